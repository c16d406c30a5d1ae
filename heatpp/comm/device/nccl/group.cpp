#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/device/nccl/detail/group_impl.hpp>

#include <algorithm>

namespace heatpp::nccl {

ncclResult_t state_of(ncclComm_t comm) {
  auto state = ncclSuccess;
  const auto code = NCCL(ncclCommGetAsyncError)(comm, &state);
  return code == ncclSuccess ? state : code;
}

std::string Group::Impl::failure(const char* call, ncclResult_t code) const {
  return detail::formatted("[{}] got the NCCL error \"{}\" on rank {} of {}; expected success", call,
                           NCCL(ncclGetErrorString)(code), rank, ranks);
}

void Group::Impl::expect_use() const {
  if (given_up) detail::raise<CommError>("nccl", "got a group that was given up; expected one in which no rank failed");
}

void Group::Impl::check(const char* call, ncclResult_t code) {
  if (is_fine(code)) return;
  const auto text = failure(call, code);
  calls.raise(text);
  fail(text);
}

ncclResult_t Group::Impl::look(std::int64_t needed) {
  if (const auto told = calls.failure_of(needed)) fail(*told);
  const auto code = state_of(comm);
  check("collective", code);
  return code;
}

void Group::Impl::fail(const std::string& failure) {
  give_up();
  throw CommError(failure);
}

void Group::Impl::give_up() {
  given_up = true;
  of.failed = true;
  const cuda::OnDevice guard(device);
  if (comm) NCCL(ncclCommAbort)(std::exchange(comm, nullptr));
}

void Group::Impl::offer() {
  ncclUniqueId id{};
  device::Peers::Offer offer{};
  const auto code = NCCL(ncclGetUniqueId)(&id);
  std::ranges::copy(id.internal, offer.begin());
  const auto text = is_fine(code) ? std::string() : failure("ncclGetUniqueId", code);
  peers.offer(offer, text);
  if (!text.empty()) peers.vote(text);
}

void Group::Impl::begin(const device::Peers::Offer& offer) {
  ncclUniqueId id{};
  std::ranges::copy(offer, id.internal);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  const auto code = NCCL(ncclCommInitRankConfig)(&comm, ranks, id, rank, &config);
  if (!is_fine(code)) peers.vote(failure("ncclCommInitRankConfig", code));
}

/// A rank that fails leaves the others in NCCL's start-up, which they give up when they are told.
bool Group::Impl::make() {
  const auto* const id = peers.offered();
  if (!id) return false;
  if (!comm && !peers.has_voted() && !peers.decided()) begin(*id);
  if (comm && !peers.has_voted()) {
    const auto code = state_of(comm);
    if (code == ncclSuccess) peers.vote({});
    else if (code != ncclInProgress) peers.vote(failure("ncclCommInitRankConfig", code));
  }
  if (!peers.decided()) return false;
  const auto text = peers.failure();
  if (!peers.has_voted()) peers.vote(text);
  if (!text.empty()) fail(text);
  return made = true;
}

Group::Group(const Communicator& comm, int device) : impl_(new Impl(comm, device)) {
  if (impl_->rank == 0) impl_->offer();
  look_after_those_left();
}

Group::~Group() {
  if (!impl_->comm || !detail::mpi_is_running()) return;  // at the end of the program CUDA may have ended, too
  if (impl_->made) leave(impl_->device, impl_->comm);
  else impl_->give_up();
}

void Group::abort(const std::string& failure) {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->made && !impl_->given_up && !failure.empty()) impl_->calls.raise(failure);
  impl_->give_up();
}

bool Group::idle() {
  const std::lock_guard lock(impl_->mutex);
  impl_->expect_use();
  const cuda::OnDevice guard(impl_->device);
  if (!impl_->made) return impl_->make();
  return impl_->look(impl_->calls.latest() + 1) == ncclSuccess;
}

std::int64_t Group::calls() const { return impl_->calls.latest(); }

void Group::expect_end_of(std::int64_t calls) {
  const std::lock_guard lock(impl_->mutex);
  impl_->expect_use();
  const cuda::OnDevice guard(impl_->device);
  impl_->look(calls);
}

void Group::note_end_of(std::int64_t calls) { impl_->calls.note_end_of(calls); }

}  // namespace heatpp::nccl
