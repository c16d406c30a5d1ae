#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/topology.hpp>
#include <optional>

namespace heatpp::detail {

/// The ranks of a communicator by the nodes that they are on: this node's, and on their first rank the first ranks of
/// all nodes, in the order of the communicator.
struct NodeGroups {
  Communicator node;
  std::optional<Communicator> leaders;
};

/// Returns the groups on all ranks if the ranks of every node share memory; else nothing. Collective; `node` is a
/// number of this rank's node. A node takes 12 KiB of memory for each rank.
[[nodiscard]] std::shared_ptr<const NodeGroups> find_node_groups(const Communicator& comm, int node);

/// Starts an all-reduce of at most 4 KiB: the first rank of a node sums what the others lay in its memory, reduces it
/// over the nodes, and lays the result there. So a node sends log2(nodes) messages. Larger data go by doubling.
[[nodiscard]] std::unique_ptr<Operation> allreduce_by_nodes(const Topology& topology, Buffer data, ReduceOp op,
                                                            const char* call);

}  // namespace heatpp::detail
