#include <heatpp/comm/allreduce/algorithm.hpp>

namespace heatpp::comm {

std::unique_ptr<detail::Operation> native(const Topology& topology, Buffer data, ReduceOp op) {
  return detail::native_allreduce(topology.comm(), data, op);
}

}  // namespace heatpp::comm
