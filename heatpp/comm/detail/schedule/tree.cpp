#include <heatpp/comm/detail/schedule/tree.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::detail {
namespace {

constexpr std::size_t most_whole = 16;

/// Returns how many of n children to join in one node.
std::size_t radix(std::size_t n) {
  if (n <= 3 || n == 5 || n == 7) return n;
  return n % 3 == 0 && n % 2 != 0 ? 3 : 2;
}

/// Makes nodes of the levels order[0] to order[depth - 1]; their ranks are at `place` in the other levels.
Tree regular(const Tree& tree, std::span<const std::size_t> extents, std::span<const int> order, std::size_t depth,
             std::vector<std::size_t>& place) {
  if (depth == 0) {
    const auto* node = &tree;
    for (auto level = place.rbegin(); level != place.rend(); ++level) node = &node->children[*level];
    return {node->rank};
  }
  const auto level = static_cast<std::size_t>(order[depth - 1]);
  const auto* as_it_was = &tree;
  for (auto above = extents.size() - 1; above > level; --above) as_it_was = &as_it_was->children.front();
  Tree node{-1, as_it_was->level};
  for (place[level] = 0; place[level] < extents[level]; ++place[level])
    node.children.push_back(regular(tree, extents, order, depth - 1, place));
  return node;
}

}  // namespace

std::vector<int> ranks_of(const Tree& tree) {
  if (tree.is_leaf()) return {tree.rank};
  std::vector<int> all;
  for (const auto& child : tree.children) {
    const auto below = ranks_of(child);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

Tree flat_tree(std::span<const int> ranks, int level) {
  if (ranks.size() == 1) return {ranks[0]};
  Tree flat{-1, level};
  for (const auto rank : ranks) flat.children.push_back({rank});
  return flat;
}

Tree side_by_side(int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return flat_tree(all, -1);
}

Tree without_single_children(const Tree& tree) {
  if (tree.children.size() == 1) return without_single_children(tree.children.front());
  Tree result{tree.rank, tree.level};
  for (const auto& child : tree.children) result.children.push_back(without_single_children(child));
  return result;
}

std::optional<std::vector<std::size_t>> extents_of(const Tree& tree) {
  if (tree.is_leaf()) return std::vector<std::size_t>{};
  auto extents = extents_of(tree.children.front());
  for (const auto& child : tree.children)
    if (!extents || extents_of(child) != extents) return std::nullopt;
  extents->push_back(tree.children.size());
  return extents;
}

std::optional<Tree> reordered(const Tree& tree, std::span<const int> order) {
  const auto extents = extents_of(tree);
  std::vector<int> levels(order.size());
  std::iota(levels.begin(), levels.end(), 0);
  if (!extents || extents->size() != order.size() || !std::ranges::is_permutation(order, levels)) return std::nullopt;
  std::vector<std::size_t> place(order.size());
  return regular(tree, *extents, order, order.size(), place);
}

Tree factored(const Tree& tree, std::size_t most, int whole_level) {
  if (tree.is_leaf()) return tree;
  std::vector<Tree> parts;
  for (const auto& child : tree.children) parts.push_back(factored(child, most, whole_level));
  const bool whole = tree.level >= 0 && tree.level <= whole_level;
  if (parts.size() > 1 && parts.size() <= (whole ? std::max(most, most_whole) : most))
    return {-1, tree.level, std::move(parts)};
  while (parts.size() > 1) {
    const auto joined = radix(parts.size());
    std::vector<Tree> nodes;
    for (std::size_t first = 0; first < parts.size(); first += joined) {
      const auto last = std::min(first + joined, parts.size());
      Tree node{-1, tree.level};
      for (auto i = first; i < last; ++i) node.children.push_back(std::move(parts[i]));
      nodes.push_back(last - first == 1 ? std::move(node.children.front()) : std::move(node));
    }
    parts = std::move(nodes);
  }
  return std::move(parts.front());
}

}  // namespace heatpp::detail
