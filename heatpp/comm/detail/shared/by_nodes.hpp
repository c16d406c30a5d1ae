#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <optional>

namespace heatpp::detail {

/// The ranks of a communicator by the nodes that they are on: this node's, and on their first rank the first ranks of
/// all nodes, in the order of the communicator.
struct NodeGroups {
  Communicator node;
  std::optional<Communicator> leaders;
};

/// Returns the groups. Collective; `node` is the number of this rank's node. Returns nothing on all ranks if all are on
/// one node or each has its own, or if the ranks of a node share no memory. A node takes 12 KiB of memory for each
/// rank.
[[nodiscard]] std::shared_ptr<NodeGroups> find_node_groups(const Communicator& comm, int node);

/// Starts an all-reduce of at most 4 KiB: the first rank of a node sums what the others lay in its memory, reduces it
/// over the nodes, and lays the result there. So a node sends log2(nodes) messages.
[[nodiscard]] std::unique_ptr<Operation> allreduce_by_nodes(const Communicator& comm, Buffer data, ReduceOp op,
                                                            const char* call);

}  // namespace heatpp::detail
