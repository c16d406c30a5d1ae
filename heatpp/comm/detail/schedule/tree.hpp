#pragma once

#include <optional>
#include <span>
#include <vector>

namespace heatpp::detail {

/// The machine. A leaf is a rank; an inner node is a part of the machine whose children communicate faster with each
/// other than with ranks outside it. Children may differ in size and depth.
struct Tree {
  int rank = -1;
  int level = 0;  ///< of the network among the children; 0 is the innermost
  std::vector<Tree> children = {};

  [[nodiscard]] bool is_leaf() const { return children.empty(); }
};

/// Returns the ranks below `tree`, in order.
[[nodiscard]] std::vector<int> ranks_of(const Tree& tree);
/// Makes a tree of the ranks side by side, on one level.
[[nodiscard]] Tree flat_tree(std::span<const int> ranks, int level);
/// Makes a tree of ranks 0 to `ranks` - 1 on level -1, which no topology has.
[[nodiscard]] Tree side_by_side(int ranks);
/// Splits nodes of more than `most` children into nodes of two or three if that divides evenly, so that a group is left
/// after log(size) exchanges. Removes nodes of a single child. On levels up to `whole_level`, groups of up to 16 stay
/// whole.
[[nodiscard]] Tree factored(const Tree& tree, std::size_t most = 1, int whole_level = -1);
[[nodiscard]] Tree without_single_children(const Tree& tree);
/// Returns how many children the nodes of each level have, innermost first; nothing if they differ in a level.
[[nodiscard]] std::optional<std::vector<std::size_t>> extents_of(const Tree& tree);
/// Returns the ranks with the levels in another order: order[0] is the level, counted from the innermost, that becomes
/// the innermost. Returns nothing if nodes of a level differ or `order` is no permutation of the levels.
[[nodiscard]] std::optional<Tree> reordered(const Tree& tree, std::span<const int> order);

}  // namespace heatpp::detail
