#pragma once

#include <heatpp/comm/topology.hpp>

namespace heatpp::device {

/// What carries memory of devices between ranks: NCCL, an MPI library that takes its addresses, or messages of the
/// host's with copies before and after.
enum class Backend { nccl, mpi, staged };

/// For the ranks of a node, and for messages between nodes.
struct Plan {
  Backend node, across;
};

/// The best there is for the ranks of `comm`, unless HEATPP_BACKEND names another. Collective when it is first called.
/// Throws ValueError on all ranks for a backend that does not exist, or NCCL where it cannot work.
[[nodiscard]] Backend backend_of(const char* op, const Communicator& comm, const Memory& memory);
[[nodiscard]] Plan plan_of(const char* op, const Topology& topology, const Memory& memory);

/// The backend, or staged copies where it does not reduce such elements as they should be.
[[nodiscard]] Backend able(Backend backend, Dtype dtype, ReduceOp op);

}  // namespace heatpp::device
