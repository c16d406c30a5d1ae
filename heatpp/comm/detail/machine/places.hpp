#pragma once

#include <heatpp/comm/topology.hpp>

namespace heatpp::detail {

/// The place of each rank in the machine: the parts it is in, outermost first, equally many for all.
using Places = std::vector<std::vector<int>>;

/// What was found out about the machine.
struct Machine {
  Places places;
  int node_level = 0;  ///< of the network inside a node: 1 where the innermost parts are packages of processors
};

/// As the options, `variable`, which is HEATPP_TOPOLOGY, or the machine have it. Collective; throws on all ranks or
/// none.
[[nodiscard]] Machine find_machine(const Communicator& comm, const TopologyOptions& options,
                                   const std::string& variable);
/// What the lines of a topology file say about so many ranks. Throws ValueError naming the line.
[[nodiscard]] Places parse_places(const std::string& text, int ranks);
[[nodiscard]] Tree tree_of(const Places& places);

}  // namespace heatpp::detail
