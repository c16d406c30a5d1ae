#pragma once

#include <heatpp/comm/topology.hpp>

#include <string>

/// A message of all ranks, or several alike, that a function of arrays sends: allreduce, topology (an all-reduce level
/// by level), allgather and place (of a number of each rank), alltoall, exscan, exchange.
struct ArrayStep {
  std::string kind;
  std::int64_t bytes;  ///< reduced; or, of an exchange between all ranks, of the whole array
};

/// Returns the step that a text such as `exchange:1000000` names. Throws ValueError for an unknown kind.
ArrayStep step_of(const std::string& text);

/// Sends what the step sends, without contents. Collective.
void replay(const heatpp::Topology& topology, const ArrayStep& step);
