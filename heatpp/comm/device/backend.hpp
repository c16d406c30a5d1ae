#pragma once

#include <heatpp/comm/topology.hpp>

namespace heatpp::device {

/// The transport of device memory between ranks: NCCL, an MPI library that takes device addresses, or messages of the
/// host with copies before and after.
enum class Backend { nccl, mpi, staged };

/// The transports for the ranks of a node, and for messages between nodes.
struct Backends {
  Backend node, across;
};

/// Returns the best backend for the ranks of `comm`, unless HEATPP_BACKEND names another. Collective at the first call.
/// Throws ValueError on all ranks for a backend that does not exist, or for NCCL if it cannot work.
[[nodiscard]] Backend backend_of(const char* op, const Communicator& comm, const Memory& memory);
[[nodiscard]] Backends backends_of(const char* op, const Topology& topology, const Memory& memory);

/// Returns the backend, or staged copies if the backend does not reduce such elements correctly.
[[nodiscard]] Backend able(Backend backend, Dtype dtype, ReduceOp op);

}  // namespace heatpp::device
