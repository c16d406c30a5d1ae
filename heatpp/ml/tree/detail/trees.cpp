#include <heatpp/ml/tree/detail/trees.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

namespace heatpp::ml::detail {

void check_nodes(std::int64_t nodes) {
  if (nodes > std::numeric_limits<std::int32_t>::max())
    heatpp::detail::raise<ValueError>("trees",
                                      "got {} nodes; expected 2147483647 at most: a max_depth, more "
                                      "min_samples_leaf or fewer trees make fewer",
                                      nodes);
}

std::int32_t Trees::add() {
  check_nodes(std::ssize(nodes) + 1);
  nodes.emplace_back();
  values.resize(values.size() + static_cast<std::size_t>(outputs), 0.0);
  return static_cast<std::int32_t>(std::ssize(nodes) - 1);
}

void Trees::append(const Trees& other) {
  check_nodes(std::ssize(nodes) + std::ssize(other.nodes));
  const auto first = static_cast<std::int32_t>(std::ssize(nodes)), first_set = static_cast<std::int32_t>(sets.size());
  for (const auto root : other.roots) roots.push_back(root + first);
  for (auto node : other.nodes) {
    if (!node.leaf()) node.left += first;
    if (node.by_set) node.bin += first_set;
    nodes.push_back(node);
  }
  values.insert(values.end(), other.values.begin(), other.values.end());
  sets.insert(sets.end(), other.sets.begin(), other.sets.end());
}

std::int64_t Trees::depth(std::int64_t tree) const {
  const auto root = roots[static_cast<std::size_t>(tree)];
  std::vector<std::int64_t> below(static_cast<std::size_t>(end_of(tree) - root), 0);
  for (auto i = std::ssize(below) - 1; i >= 0; --i) {  // children follow their parents
    const auto& node = nodes[static_cast<std::size_t>(root + i)];
    if (node.leaf()) continue;
    const auto left = static_cast<std::size_t>(node.left - root);
    below[static_cast<std::size_t>(i)] = 1 + std::max(below[left], below[left + 1]);
  }
  return below[0];
}

std::int64_t Trees::leaves(std::int64_t tree) const {
  const auto begin = nodes.begin() + roots[static_cast<std::size_t>(tree)], end = nodes.begin() + end_of(tree);
  return std::count_if(begin, end, [](const TreeNode& node) { return node.leaf(); });
}

namespace {

/// Returns one column of the nodes.
template <class F>
DNDarray column(const Trees& trees, Dtype dtype, const Communicator& comm, F f) {
  std::vector<double> numbers;
  std::transform(trees.nodes.begin(), trees.nodes.end(), std::back_inserter(numbers), f);
  return replicated(at::tensor(numbers, at::kDouble), dtype, comm);
}

/// Whether every node has a parent in its tree or is its root.
bool whole(const Trees& trees, std::int64_t features) {
  if (trees.roots.empty() ? !trees.nodes.empty() : trees.roots.front() != 0) return false;
  for (std::int64_t t = 0; t < trees.size(); ++t) {
    const auto begin = trees.roots[static_cast<std::size_t>(t)], end = trees.end_of(t);
    if (begin < 0 || begin >= end || end > std::ssize(trees.nodes)) return false;
    for (auto i = begin; i < end; ++i)
      if (const auto& node = trees.nodes[static_cast<std::size_t>(i)]; !node.leaf())
        if (node.feature >= features || node.left <= i || node.left >= end - 1 ||
            (node.by_set && (node.bin < 0 || node.bin >= std::ssize(trees.sets))))
          return false;
  }
  return true;
}

}  // namespace

void write_trees(const Trees& trees, const Communicator& comm, ModelState& state) {
  const auto nodes = std::ssize(trees.nodes);
  state.arrays.insert(
      {{"roots", replicated(at::tensor(trees.roots, at::kLong), int64, comm)},
       {"features", column(trees, int64, comm, [](const TreeNode& n) { return n.feature; })},
       {"thresholds", column(trees, float64, comm, [](const TreeNode& n) { return n.threshold; })},
       {"children", column(trees, int64, comm, [](const TreeNode& n) { return n.left; })},
       {"missing_left", column(trees, int64, comm, [](const TreeNode& n) { return n.missing_left ? 1 : 0; })},
       {"values", replicated(at::tensor(trees.values, at::kDouble).reshape({nodes, trees.outputs}), float64, comm)}});
  if (trees.sets.empty()) return;
  auto sets = at::empty({std::ssize(trees.sets), 4}, at::kLong);
  std::memcpy(sets.mutable_data_ptr(), trees.sets.data(), trees.sets.size() * sizeof(BinSet));
  state.arrays.insert(
      {{"category_sets", replicated(sets, int64, comm)},
       {"set_of_node", column(trees, int64, comm, [](const TreeNode& n) { return n.by_set ? n.bin : -1; })}});
}

namespace {

/// Converts a number so that one out of range stays out of range, since no state has as many features or nodes.
std::int32_t number_of_node(std::int64_t number) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(number, -1, std::numeric_limits<std::int32_t>::max()));
}

/// Reads the sets of categorical nodes; a state without categories lacks them.
void read_sets(const StateReader& read, Trees& trees) {
  if (!read.has_array("category_sets") && !read.has_array("set_of_node")) return;
  const auto sets = read.whole_numbers("category_sets", {-1, 4}).larray().contiguous();
  const auto of_node = read.whole_numbers("set_of_node", {std::ssize(trees.nodes)}).larray();
  trees.sets.resize(static_cast<std::size_t>(sets.size(0)));
  std::memcpy(trees.sets.data(), sets.const_data_ptr(), trees.sets.size() * sizeof(BinSet));
  for (std::size_t i = 0; i < trees.nodes.size(); ++i) {
    const auto set = of_node.const_data_ptr<std::int64_t>()[i];
    trees.nodes[i].by_set = set >= 0 && !trees.nodes[i].leaf();
    trees.nodes[i].bin = static_cast<std::int32_t>(std::clamp<std::int64_t>(set, -1, std::ssize(trees.sets)));
  }
}

}  // namespace

Trees read_trees(const StateReader& read, std::int64_t features) {
  const auto roots = read.whole_numbers("roots", {-1}).larray(),
             feature = read.whole_numbers("features", {-1}).larray();
  const auto n = feature.size(0);
  const auto children = read.whole_numbers("children", {n}).larray(),
             missing = read.whole_numbers("missing_left", {n}).larray();
  const auto thresholds = read.array("thresholds", {n}).astype(float64).larray();
  const auto values = read.array("values", {n, -1}).astype(float64).larray().contiguous();
  Trees trees{.outputs = values.size(1)};
  const auto* root = roots.const_data_ptr<std::int64_t>();
  trees.roots.assign(root, root + roots.numel());
  for (std::int64_t i = 0; i < n; ++i)
    trees.nodes.push_back({.threshold = thresholds.const_data_ptr<double>()[i],
                           .feature = number_of_node(feature.const_data_ptr<std::int64_t>()[i]),
                           .left = number_of_node(children.const_data_ptr<std::int64_t>()[i]),
                           .missing_left = missing.const_data_ptr<std::int64_t>()[i] != 0});
  trees.values.assign(values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel());
  read_sets(read, trees);
  if (!whole(trees, features))
    heatpp::detail::raise<ValueError>(read.op(), "got {} nodes that are not {} trees of {} features", n, trees.size(),
                                      features);
  return trees;
}

std::vector<double> numbers_from(const DNDarray& x) {
  const auto block = x.astype(float64).larray().contiguous();
  return {block.const_data_ptr<double>(), block.const_data_ptr<double>() + block.numel()};
}

}  // namespace heatpp::ml::detail
