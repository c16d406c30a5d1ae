#pragma once

#include <heatpp/comm/topology.hpp>

namespace heatpp::comm {

/// An all-reduce over a topology. Each lives in a file of its own beside this one and is a line of the table in
/// algorithm.cpp.
struct Algorithm {
  std::string_view name;
  void (*run)(const Topology& topology, Buffer data, ReduceOp op);
  bool needs_uniform;  ///< whether all nodes must hold equally many ranks
};

/// All of them.
[[nodiscard]] std::span<const Algorithm> algorithms();

/// The algorithm with that name; for an empty name the one that HEATPP_ALLREDUCE names, or the one for this size.
/// Throws ValueError for a name that is not in the table, or whose algorithm cannot run on the topology.
[[nodiscard]] const Algorithm& find_algorithm(std::string_view name, const Topology& topology, std::int64_t bytes);

/// The MPI library's all-reduce over all ranks.
void native(const Topology& topology, Buffer data, ReduceOp op);

/// Reduce-scatter at each level from the innermost out, all-reduce at the outermost, all-gather back in, so that level
/// l carries 1 / (ranks below it) of the data and all its groups work at once (Cho et al., BlueConnect, MLSys 2019).
void blueconnect(const Topology& topology, Buffer data, ReduceOp op);

}  // namespace heatpp::comm
