#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/device/nccl/nccl.hpp>

namespace heatpp::nccl {

bool available() { return false; }
bool reduces(Dtype, ReduceOp) { return false; }

struct Group::Impl {};

Group::Group(const Communicator&, int) {
  detail::raise<NotCompiled>("nccl", "got no NCCL; expected a build that found its header");
}
Group::~Group() = default;
bool Group::idle() { return true; }
std::int64_t Group::calls() const { return 0; }
void Group::expect_end_of(std::int64_t) {}
void Group::note_end_of(std::int64_t) {}
void Group::abort(const std::string&) {}
void Group::allreduce(const Buffer&, ReduceOp, const cuda::Stream&) {}
void Group::reduce(const Buffer&, int, ReduceOp, const cuda::Stream&) {}
void Group::broadcast(const Buffer&, int, const cuda::Stream&) {}
void Group::reduce_scatter(const Buffer&, Counts, ReduceOp, const cuda::Stream&) {}
void Group::allgather(const Buffer&, Counts, const cuda::Stream&) {}

}  // namespace heatpp::nccl
