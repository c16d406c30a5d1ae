#include <heatpp/comm/recovery/detail/family.hpp>

#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/recovery/detail/ulfm.hpp>
#include <heatpp/comm/recovery/recovery.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace heatpp::detail {
namespace {

struct Member {
  MPI_Comm comm;
  std::uint64_t family;
  bool revoked;
};

/// The communicators of this rank. Never destroyed, because communicators may live as long as the program.
struct Families {
  std::mutex mutex;
  std::vector<Member> members;
  std::uint64_t made = 0;

  [[nodiscard]] Member* find(MPI_Comm comm) {
    const auto found = std::ranges::find(members, comm, &Member::comm);
    return found == members.end() ? nullptr : &*found;
  }
};
Families& families() {
  static auto& all = *new Families;
  return all;
}

/// What the error handler has found of the latest error on this thread.
Loss& noted_loss() {
  static thread_local Loss loss = Loss::none;
  return loss;
}

/// Returns the members of the family that are to be revoked now, and marks them.
std::vector<MPI_Comm> to_revoke(MPI_Comm comm) {
  auto& all = families();
  const std::lock_guard lock(all.mutex);
  const auto* const known = all.find(comm);
  if (!known) return {comm};
  const auto family = known->family;
  std::vector<MPI_Comm> found;
  for (auto& member : all.members)
    if (member.family == family && !std::exchange(member.revoked, true)) found.push_back(member.comm);
  return found;
}

bool has_losses(MPI_Comm comm) {
  return next_of(static_cast<int>(ulfm::lost_ranks(comm).size()), ulfm::is_revoked(comm)) == Wait::leave;
}

void on_error(MPI_Comm* comm, int* code, ...) {
  int error_class = 0;
  MPI_Error_class(*code, &error_class);
  noted_loss() = loss_by(error_class, ulfm::classes(), has_losses(*comm) ? Loss::of_rank : Loss::none);
  if (noted_loss() != Loss::none) revoke_family(*comm);
}

MPI_Errhandler handler_of_losses() {
  static const auto handler = [] {
    MPI_Errhandler made = MPI_ERRORS_RETURN;
    MPI_Comm_create_errhandler(on_error, &made);
    return made;
  }();
  return handler;
}

}  // namespace

void return_errors(MPI_Comm comm) {
  MPI_Comm_set_errhandler(comm, ulfm::is_on() ? handler_of_losses() : MPI_ERRORS_RETURN);
}

void join_family(MPI_Comm comm, MPI_Comm of) {
  if (!ulfm::is_on()) return;
  auto& all = families();
  const std::lock_guard lock(all.mutex);
  const auto* const known = all.find(of);
  all.members.push_back({comm, known ? known->family : ++all.made, known && known->revoked});
}

bool leave_family(MPI_Comm comm) {
  auto& all = families();
  const std::lock_guard lock(all.mutex);
  const auto* const known = all.find(comm);
  const bool revoked = known && known->revoked;
  std::erase_if(all.members, [comm](const Member& member) { return member.comm == comm; });
  return revoked;
}

void revoke_family(MPI_Comm comm) {
  if (!ulfm::is_on()) return;
  for (const auto member : to_revoke(comm)) ulfm::revoke(member);
}

Loss loss_of(int code) {
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  return loss_by(error_class, ulfm::classes(), std::exchange(noted_loss(), Loss::none));
}

void raise_loss(const char* op, std::string_view text) {
  forget_call();
  raise<ProcessFailure>(
      op, "got {}; expected all ranks to take part (heatpp::survivors makes a communicator of the others)", text);
}

void expect_ranks(const NotedCall& call) {
  if (!ulfm::is_on()) return;
  const auto mpi = call.comm.impl().mpi;
  const auto lost = ulfm::lost_ranks(mpi);
  if (next_of(static_cast<int>(lost.size()), ulfm::is_revoked(mpi)) == Wait::go_on) return;
  revoke_family(mpi);
  noted_loss() = Loss::none;
  const std::string text = call.print.text(), op = call.print.op;
  const auto size = call.comm.size();
  if (lost.empty()) raise_loss(op.c_str(), formatted("the news that a rank has ended, in {}", text));
  raise_loss(op.c_str(), formatted("the end of rank {} of {} in {}", fmt::join(lost, ", "), size, text));
}

}  // namespace heatpp::detail
