#pragma once

#include <heatpp/comm/topology.hpp>

#include <string>

/// A message of all ranks, or several alike, that a function of arrays sends: allreduce, topology (an all-reduce level
/// by level), allgather and place (of a number of each rank), alltoall, exscan, exchange.
struct ArrayStep {
  std::string kind;
  std::int64_t bytes;         ///< reduced; or, of an exchange, of what its ranks hold
  heatpp::Communicator comm;  ///< the ranks of an exchange
};

/// Returns the step that a text such as `exchange:1000000` names. `exchange:1000000:16x12:0` exchanges an array of all
/// ranks, which form a grid of 16 x 12 in C order, among those that differ along axis 0 only. Collective. Throws
/// ValueError for an unknown kind.
ArrayStep step_of(const heatpp::Topology& topology, const std::string& text);

/// Sends what the step sends, without contents. Collective.
void replay(const heatpp::Topology& topology, const ArrayStep& step);
