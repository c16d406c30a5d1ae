#pragma once

#include <optional>
#include <span>
#include <vector>

namespace heatpp::detail {

/// The machine: a leaf is a rank, an inner node a part of the machine whose children talk to each other faster than to
/// ranks outside it. Children may differ in size and depth.
struct Tree {
  int rank = -1;
  int level = 0;  ///< of the network among the children, 0 being the innermost
  std::vector<Tree> children = {};

  [[nodiscard]] bool is_leaf() const { return children.empty(); }
};

/// The ranks below `tree`, in order.
[[nodiscard]] std::vector<int> ranks_of(const Tree& tree);
/// The ranks side by side, on one level.
[[nodiscard]] Tree flat_tree(std::span<const int> ranks, int level);
/// Ranks 0 to `ranks` - 1 on level -1, which no topology has.
[[nodiscard]] Tree side_by_side(int ranks);
/// The same with nodes of more than `most` children made of nodes of two or three where that comes out even, so that a
/// group is left after as many exchanges as the logarithm of its size; and without nodes of a single child.
/// On levels up to `whole_level` groups of up to 16 stay whole.
[[nodiscard]] Tree factored(const Tree& tree, std::size_t most = 1, int whole_level = -1);
[[nodiscard]] Tree without_single_children(const Tree& tree);
/// How many children the nodes of each level have, innermost first; nothing where those of a level differ.
[[nodiscard]] std::optional<std::vector<std::size_t>> extents_of(const Tree& tree);
/// The same ranks with the levels in another order: order[0] is the level, counted from the innermost, that comes to
/// lie innermost. Nothing where nodes of a level differ or `order` is no permutation of the levels.
[[nodiscard]] std::optional<Tree> reordered(const Tree& tree, std::span<const int> order);

}  // namespace heatpp::detail
