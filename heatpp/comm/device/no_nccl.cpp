#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/device/nccl.hpp>

namespace heatpp::nccl {

bool available() { return false; }
bool reduces(Dtype, ReduceOp) { return false; }

Group::Group(const Communicator& comm) : rank_(comm.rank()), ranks_(comm.size()) {
  detail::raise<NotCompiled>("nccl", "got no NCCL; expected a build that found its header");
}
Group::~Group() = default;
void Group::abort() {}
void Group::check() {}
void Group::allreduce(const Buffer&, ReduceOp, const cuda::Stream&) {}
void Group::reduce(const Buffer&, int, ReduceOp, const cuda::Stream&) {}
void Group::broadcast(const Buffer&, int, const cuda::Stream&) {}
void Group::reduce_scatter(const Buffer&, Counts, ReduceOp, const cuda::Stream&) {}
void Group::allgather(const Buffer&, Counts, const cuda::Stream&) {}

}  // namespace heatpp::nccl
