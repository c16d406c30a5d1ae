#pragma once

#include <heatpp/comm/communicator.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heatpp {

/// How to arrange ranks in levels where the machine is not to be asked.
struct TopologyOptions {
  /// Extents of the levels, outermost first: {2, 4} is two nodes of four ranks, rank 4 being the first of the second
  /// node. Empty: HEATPP_TOPOLOGY ("2x4") if set, else the nodes that MPI finds.
  std::vector<int> shape = {};
  /// The node of each rank, for two levels and any placement. Must be the same function on all ranks.
  std::function<int(int rank)> node_of = {};
};

/// One level of the machine. `group` holds the ranks that differ from this one in their place at this level only, e.g.
/// the ranks of a node, or the ranks with the same number in all nodes.
struct Level {
  std::string name;
  Communicator group;
};

/// The levels of the network, each with a communicator of its own that everything above shares. Copies share them.
class Topology {
 public:
  /// Collective over `comm`. Throws ValueError where a given shape does not hold exactly the ranks of `comm`.
  explicit Topology(const Communicator& comm, const TopologyOptions& options = {});

  [[nodiscard]] const Communicator& comm() const { return comm_; }
  /// Innermost first; at least two, named "node" and "cluster" unless a deeper shape was given.
  [[nodiscard]] const std::vector<Level>& levels() const { return levels_; }
  /// The ranks of this node.
  [[nodiscard]] const Communicator& node() const { return levels_.front().group; }
  /// The ranks with this rank's number in each node, over all outer levels.
  [[nodiscard]] const Communicator& across() const { return *across_; }
  /// Whether all nodes hold equally many ranks, which multi-level algorithms need.
  [[nodiscard]] bool uniform() const { return uniform_; }

  /// Reduces `data` over all ranks in place, by the algorithm named, by HEATPP_ALLREDUCE, or by choice. Every rank gets
  /// the same bits. Collective over comm(). Throws ValueError for an unknown name or one that the topology rules out.
  void allreduce(Buffer data, ReduceOp op = ReduceOp::sum, std::string_view algorithm = {}) const;

 private:
  void place_in_grid(const std::vector<int>& shape);
  void place_in_nodes(int node);

  Communicator comm_;
  std::vector<Level> levels_;
  std::optional<Communicator> across_;
  bool uniform_ = true;
};

namespace comm {
/// A picture of the levels in text, one line each.
[[nodiscard]] std::string describe(const Topology& topology);
}  // namespace comm

}  // namespace heatpp
