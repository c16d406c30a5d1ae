#pragma once

#include <heatpp/comm/detail/schedule/tree.hpp>
#include <heatpp/comm/topology.hpp>

namespace heatpp::detail {

/// The place of each rank in the machine: the parts that hold it, outermost first, equally many for all.
using Places = std::vector<std::vector<int>>;

/// The result of a look at the machine.
struct Machine {
  Tree tree;
  int node_level = 0;  ///< of the network inside a node: 1 if the innermost parts are packages of processors
};

/// Arranges the ranks as the options say, else `variable`, which is HEATPP_TOPOLOGY, else the machine. Collective;
/// throws on all ranks or none.
[[nodiscard]] Machine find_machine(const Communicator& comm, const TopologyOptions& options,
                                   const std::string& variable);
/// Parses the lines of a topology file for this many ranks. Throws ValueError that names the line.
[[nodiscard]] Places parse_places(const std::string& text, int ranks);
[[nodiscard]] Tree tree_of(const Places& places);

}  // namespace heatpp::detail
