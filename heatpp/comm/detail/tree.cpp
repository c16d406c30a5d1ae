#include <heatpp/comm/detail/tree.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

/// How many of n children to join in one node.
std::size_t radix(std::size_t n) {
  if (n <= 3 || n == 5 || n == 7) return n;
  return n % 3 == 0 && n % 2 != 0 ? 3 : 2;
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

Tree without_single_children(const Tree& tree) {
  if (tree.children.size() == 1) return without_single_children(tree.children.front());
  Tree result{tree.rank, tree.level};
  for (const auto& child : tree.children) result.children.push_back(without_single_children(child));
  return result;
}

Tree factored(const Tree& tree, std::size_t most) {
  if (tree.is_leaf()) return tree;
  std::vector<Tree> parts;
  for (const auto& child : tree.children) parts.push_back(factored(child, most));
  if (parts.size() > 1 && parts.size() <= most) return {-1, tree.level, std::move(parts)};
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
