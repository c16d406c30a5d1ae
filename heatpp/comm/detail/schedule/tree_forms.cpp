#include <heatpp/comm/detail/schedule/tree.hpp>

#include <algorithm>
#include <utility>

namespace heatpp::detail {
namespace {

using Run = Tree::Run;

constexpr std::size_t most_whole = 16;

/// Returns how many of n children to join in one node: the smallest factor, so that all nodes are alike, unless that is
/// large.
std::size_t radix(std::size_t n) {
  for (const std::size_t factor : {2, 3, 5, 7, 11, 13})
    if (n % factor == 0) return factor;
  return 2;
}

/// Joins `each` children after another in nodes. Less may be left for the last one; a single child stays as it is.
std::vector<Run> joined(const std::vector<Run>& children, std::size_t each, int level) {
  std::vector<Run> nodes, open;
  std::size_t filled = 0;
  for (const auto& run : children)
    for (std::size_t at = 0; at < run.count;) {
      const auto left = run.count - at, whole = filled == 0 ? left / each : 0;
      if (whole > 0) {
        nodes.push_back({Tree(level, {Run{run.at(at), each, run.stride}}), whole, static_cast<int>(each) * run.stride});
        at += whole * each;
        continue;
      }
      const auto taken = std::min(left, each - filled);
      open.push_back({run.at(at), taken, run.stride});
      at += taken;
      filled += taken;
      if (filled < each) continue;
      nodes.push_back({Tree(level, std::exchange(open, {}))});
      filled = 0;
    }
  if (filled > 0) nodes.push_back({filled == 1 ? open.front().first : Tree(level, std::move(open))});
  return nodes;
}

/// Adds the ranks below a tree as leaves.
void add_leaves(const Tree& tree, std::vector<Run>& leaves) {
  if (tree.is_leaf()) return leaves.push_back({tree});
  for (const auto& run : tree.runs()) {
    std::vector<Run> inside;
    add_leaves(run.first, inside);
    auto& [first, count, stride] = inside.front();
    if (count == 1) stride = run.stride;
    if (inside.size() == 1 && run.stride == static_cast<int>(count) * stride)
      leaves.push_back({first, count * run.count, stride});
    else
      for (std::size_t i = 0; i < run.count; ++i) add_leaves(run.at(i), leaves);
  }
}

/// Makes nodes of the levels order[0] to order[depth - 1]; their ranks are at `place` in the other levels.
Tree regular(const Tree& tree, std::span<const std::size_t> extents, std::span<const int> order, std::size_t depth,
             std::vector<std::size_t>& place) {
  if (depth == 0) {
    auto node = tree;
    for (auto level = place.rbegin(); level != place.rend(); ++level) node = node.child(*level);
    return node;
  }
  const auto level = static_cast<std::size_t>(order[depth - 1]);
  auto as_it_was = tree;
  for (auto above = extents.size() - 1; above > level; --above) as_it_was = as_it_was.child(0);
  std::vector<Tree> children;
  for (place[level] = 0; place[level] < extents[level]; ++place[level])
    children.push_back(regular(tree, extents, order, depth - 1, place));
  return {as_it_was.level(), children};
}

/// Returns the tree with its levels in another order, if each level is one run.
std::optional<Tree> reordered_runs(const Tree& tree, std::span<const int> order) {
  struct Nodes {
    int level, stride;
    std::size_t count;
  };
  std::vector<Nodes> levels;  // innermost first
  for (auto node = tree; !node.is_leaf(); node = node.child(0)) {
    const auto runs = node.runs();
    if (runs.size() > 1) return std::nullopt;
    levels.insert(levels.begin(), {node.level(), runs.front().stride, runs.front().count});
  }
  Tree result(tree.rank());
  for (const auto number : order) {
    const auto& [level, stride, count] = levels[static_cast<std::size_t>(number)];
    result = Tree(level, {Run{result, count, stride}});
  }
  return result;
}

void collect_nodes(const Tree& tree, int level, std::vector<Tree::Run>& nodes) {
  for (const auto& run : tree.runs())
    if (run.first.level() == level && !run.first.is_leaf()) nodes.push_back(run);
    else
      for (std::size_t i = 0; i < run.count; ++i) collect_nodes(run.at(i), level, nodes);
}

}  // namespace

Tree flat_tree(std::span<const int> ranks, int level) {
  std::vector<Run> leaves;
  for (const auto rank : ranks) leaves.push_back({Tree(rank)});
  return ranks.size() == 1 ? Tree(ranks[0]) : Tree(level, std::move(leaves));
}

Tree flat_tree(const Tree& tree, int level) {
  std::vector<Run> leaves;
  add_leaves(tree, leaves);
  return tree.ranks() == 1 ? leaves.front().first : Tree(level, std::move(leaves));
}

Tree side_by_side(int ranks) {
  return ranks == 1 ? Tree(0) : Tree(-1, {Run{Tree(0), static_cast<std::size_t>(ranks), 1}});
}

Tree grid_of(std::span<const int> shape) {
  Tree tree(0);
  int level = 0, ranks = 1;
  for (auto i = shape.size(); i-- > 0; ranks *= shape[i], ++level)
    tree = Tree(level, {Run{tree, static_cast<std::size_t>(shape[i]), ranks}});
  return shape.size() == 1 ? Tree(1, {Run{tree}}) : tree;
}

Tree without_single_children(const Tree& tree) {
  if (tree.is_leaf()) return tree;
  return tree.size() == 1 ? without_single_children(tree.child(0)) : with_children(tree, without_single_children);
}

std::optional<std::vector<std::size_t>> extents_of(const Tree& tree) {
  if (!tree.alike()) return std::nullopt;
  std::vector<std::size_t> extents;
  for (auto node = tree; !node.is_leaf(); node = node.child(0)) extents.push_back(node.size());
  std::ranges::reverse(extents);
  return extents;
}

std::optional<Tree> reordered(const Tree& tree, std::span<const int> order) {
  const auto extents = extents_of(tree);
  std::vector<int> levels;
  for (int level = 0; level < std::ssize(order); ++level) levels.push_back(level);
  if (!extents || extents->size() != order.size() || !std::ranges::is_permutation(order, levels)) return std::nullopt;
  if (auto result = reordered_runs(tree, order)) return result;
  std::vector<std::size_t> place(order.size());
  return regular(tree, *extents, order, order.size(), place);
}

Tree factored(const Tree& tree, std::size_t most, int whole_level) {
  if (tree.is_leaf()) return tree;
  const auto level = tree.level();
  std::vector<Run> parts;
  for (const auto& run : tree.runs()) parts.push_back({factored(run.first, most, whole_level), run.count, run.stride});
  auto size = tree.size();
  const bool whole = level >= 0 && level <= whole_level;
  if (size > 1 && size <= (whole ? std::max(most, most_whole) : most)) return {level, std::move(parts)};
  while (size > 1) {
    const auto each = radix(size);
    parts = joined(parts, each, level);
    size = (size + each - 1) / each;
  }
  return parts.front().first;
}

std::vector<Tree> path_to(const Tree& tree, int rank) {
  std::vector<Tree> path{tree};
  while (path.back().level() > 0) path.push_back(path.back().child(*path.back().child_with(rank)));
  std::ranges::reverse(path);
  return path;
}

Tree nodes_at(const Tree& tree, int level) {
  std::vector<Tree::Run> nodes;
  collect_nodes(tree, level, nodes);
  return {tree.level(), std::move(nodes)};
}

}  // namespace heatpp::detail
