#include <heatpp/comm/allreduce/algorithm.hpp>

namespace heatpp::comm {

void native(const Topology& topology, Buffer data, ReduceOp op) { topology.comm().allreduce(data, op); }

}  // namespace heatpp::comm
