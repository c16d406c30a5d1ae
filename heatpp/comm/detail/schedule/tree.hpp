#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace heatpp::detail {

/// The machine. A leaf is a rank; an inner node is a part of the machine whose children communicate faster with each
/// other than with ranks outside it. Children may differ in size and depth. Neighbors that are alike, and whose ranks
/// differ by a constant, are kept as one run. So a regular machine takes one run for each level, for any number of
/// ranks. Trees do not change, and copies share their nodes.
class Tree {
 public:
  struct Run;

  /// Makes a leaf.
  explicit Tree(int rank = -1) : first_(rank) {}
  /// Makes a node, `level` being the level of the network among its children; 0 is the innermost.
  Tree(int level, std::span<const Tree> children);
  Tree(int level, std::vector<Run> runs);

  [[nodiscard]] bool is_leaf() const { return !node_; }
  /// Returns the first rank, which is the only one of a leaf.
  [[nodiscard]] int rank() const { return first_; }
  [[nodiscard]] int level() const;
  /// Returns the number of children.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] Tree child(std::size_t index) const;
  /// Returns the number of ranks.
  [[nodiscard]] std::size_t ranks() const;
  /// Whether the nodes of each level have equally many children.
  [[nodiscard]] bool alike() const;

  /// Returns the children as runs.
  [[nodiscard]] std::vector<Run> runs() const;
  /// Returns the child that holds the rank, if one does.
  [[nodiscard]] std::optional<std::size_t> child_with(int rank) const;
  [[nodiscard]] bool holds(int rank) const;
  /// Returns the rank at a position in the order of the leaves, and the position of a rank that it holds.
  [[nodiscard]] int rank_at(std::size_t position) const;
  [[nodiscard]] std::size_t position_of(int rank) const;

 private:
  struct Node;
  friend bool equal_shifted(const Tree& a, const Tree& b);
  [[nodiscard]] Tree shifted(int by) const;

  int first_;  // the node's ranks are counted from here
  std::shared_ptr<const Node> node_ = nullptr;
};

/// Equal trees, whose ranks differ by `stride` from one to the next.
struct Tree::Run {
  Tree first;
  std::size_t count = 1;
  int stride = 0;
  [[nodiscard]] Tree at(std::size_t index) const { return first.shifted(static_cast<int>(index) * stride); }
};

/// Calls f with each child.
template <class F>
void for_each_child(const Tree& tree, F f) {
  for (const auto& run : tree.runs())
    for (std::size_t i = 0; i < run.count; ++i) f(run.at(i));
}
/// Returns the tree with f(child) instead of each child; f must keep the order of the ranks.
template <class F>
[[nodiscard]] Tree with_children(const Tree& tree, F f) {
  auto runs = tree.runs();
  for (auto& run : runs) run.first = f(run.first);
  return {tree.level(), std::move(runs)};
}

/// Returns the ranks below `tree`, in order.
[[nodiscard]] std::vector<int> ranks_of(const Tree& tree);
/// Makes a tree of the ranks side by side, on one level.
[[nodiscard]] Tree flat_tree(std::span<const int> ranks, int level);
[[nodiscard]] Tree flat_tree(const Tree& tree, int level);
/// Makes a tree of ranks 0 to `ranks` - 1 on level -1, which no topology has.
[[nodiscard]] Tree side_by_side(int ranks);
/// Makes a tree of ranks in order from extents, outermost first. A single extent is that of one node.
[[nodiscard]] Tree grid_of(std::span<const int> shape);
/// Splits nodes of more than `most` children into nodes of the smallest factor, up to 13 if that divides evenly, so
/// that a group is left after log(size) exchanges. Removes nodes of a single child. On levels up to `whole_level`,
/// groups of up to 16 stay whole.
[[nodiscard]] Tree factored(const Tree& tree, std::size_t most = 1, int whole_level = -1);
[[nodiscard]] Tree without_single_children(const Tree& tree);
/// Returns how many children the nodes of each level have, innermost first; nothing if they differ in a level.
[[nodiscard]] std::optional<std::vector<std::size_t>> extents_of(const Tree& tree);
/// Returns the ranks with the levels in another order: order[0] is the level, counted from the innermost, that becomes
/// the innermost. Returns nothing if nodes of a level differ or `order` is no permutation of the levels.
[[nodiscard]] std::optional<Tree> reordered(const Tree& tree, std::span<const int> order);
/// Returns the nodes of the tree that hold the rank, innermost first.
[[nodiscard]] std::vector<Tree> path_to(const Tree& tree, int rank);
/// Returns the nodes of a level side by side, without the levels between them and the root.
[[nodiscard]] Tree nodes_at(const Tree& tree, int level);
/// Returns numbers that describe the tree, equal ones for equal trees.
[[nodiscard]] std::vector<int> numbers_of(const Tree& tree);

}  // namespace heatpp::detail
