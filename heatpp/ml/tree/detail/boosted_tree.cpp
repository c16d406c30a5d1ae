#include <heatpp/ml/tree/detail/boosted_tree.hpp>

#include <ATen/Parallel.h>

#include <algorithm>

namespace heatpp::ml::detail {
namespace {

Cell* cells_of(const at::Tensor& cells) { return reinterpret_cast<Cell*>(cells.mutable_data_ptr<std::int64_t>()); }

/// Replaces the parent's cells by parent - child.
void take_away(const at::Tensor& parent, const at::Tensor& child) {
  auto* from = parent.mutable_data_ptr<std::int64_t>();
  const auto* part = child.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < child.numel(); ++i) from[i] -= part[i];
}

/// The range of the values of the leaves below each node.
struct ValueRange {
  double least, largest;
};

/// Limits all values below a node to a range.
void bound_below(Trees& tree, std::int32_t node, double low, double high) {
  const auto& at = tree.nodes[static_cast<std::size_t>(node)];
  if (at.leaf()) {
    auto& value = tree.values[static_cast<std::size_t>(node)];
    value = std::clamp(value, low, high);
    return;
  }
  bound_below(tree, at.left, low, high);
  bound_below(tree, at.left + 1, low, high);
}

}  // namespace

double value_of(const Cell& sums, const Units& units, double l2, const Bounds& bounds) {
  constexpr double least = 1e-15;
  const auto value = -units.gradient * static_cast<double>(sums.gradient) /
                     (units.weight * static_cast<double>(sums.weight) + l2 + least);
  return std::clamp(value, bounds.low, bounds.high);
}

void keep_directions(Trees& tree, std::span<const std::int64_t> directions) {
  std::vector<ValueRange> below(tree.nodes.size());
  for (auto i = std::ssize(tree.nodes) - 1; i >= 0; --i) {  // children follow their parents
    const auto& node = tree.nodes[static_cast<std::size_t>(i)];
    auto& range = below[static_cast<std::size_t>(i)];
    if (node.leaf()) {
      range.least = range.largest = tree.values[static_cast<std::size_t>(i)];
      continue;
    }
    auto &left = below[static_cast<std::size_t>(node.left)], &right = below[static_cast<std::size_t>(node.left) + 1];
    const auto direction = directions[static_cast<std::size_t>(node.feature)];
    const auto lower = direction > 0 ? node.left : node.left + 1, upper = 2 * node.left + 1 - lower;
    auto &low = direction > 0 ? left : right, &high = direction > 0 ? right : left;
    if (direction != 0 && low.largest > high.least) {
      const auto middle = low.largest / 2 + high.least / 2;
      bound_below(tree, lower, -std::numeric_limits<double>::infinity(), middle);
      bound_below(tree, upper, middle, std::numeric_limits<double>::infinity());
      low = {std::min(low.least, middle), middle};
      high = {middle, std::max(high.largest, middle)};
    }
    range = {std::min(left.least, right.least), std::max(left.largest, right.largest)};
  }
}

TreeGrower::TreeGrower(const Rows& rows, const Bins& bins, const BinnedRows& binned, const GrowthLimits& limits)
    : rows_(rows),
      bins_(bins),
      binned_(binned),
      limits_(limits),
      spare_(static_cast<std::size_t>(rows.count())),
      room_(static_cast<std::size_t>(bins.cells())) {}

at::Tensor TreeGrower::new_cells() {
  if (free_.empty()) return at::empty({cell_numbers * bins_.cells() + 1}, at::kLong);
  auto cells = std::move(free_.back());
  free_.pop_back();
  return cells;
}

void TreeGrower::sum_cells(const Leaf& leaf, const at::Tensor& cells, std::int64_t* flag) {
  const std::span<const std::uint32_t> order =
      order_.subspan(static_cast<std::size_t>(leaf.begin), static_cast<std::size_t>(leaf.end - leaf.begin));
  constexpr std::int64_t few = 1 << 14;  // additions that do not justify another thread
  const auto grain = std::max<std::int64_t>(1, few / std::max<std::int64_t>(1, std::ssize(order)));
  auto* sums = cells_of(cells);
  at::parallel_for(0, bins_.features, grain, [&](std::int64_t first, std::int64_t last) {
    sum_pairs(binned_, bins_, pairs_, units_, order, first, last, room_.data(), sums);
  });
  auto* numbers = cells.mutable_data_ptr<std::int64_t>();
  const auto count = cells.numel() - 1;
  numbers[count] = flag ? *flag : 0;
  if (rows_.distributed()) rows_.comm().allreduce(Buffer(numbers, flag ? count + 1 : count, int64));
  if (flag) *flag = numbers[count];
}

void TreeGrower::release(Leaf& leaf) {
  if (leaf.cells.defined()) free_.push_back(std::move(leaf.cells));
}

bool TreeGrower::may_divide(const Leaf& leaf) const {
  return leaf.sums.rows >= 2 * limits_.rows_of_leaf && leaf.depth < limits_.depth;
}

void TreeGrower::find(Leaf& leaf) {
  leaf.split = best_split(bins_, cells_of(leaf.cells), leaf.sums, units_, limits_, leaf.bounds);
}

void TreeGrower::bound(const Leaf& parent, Leaf& left, Leaf& right) const {
  left.bounds = right.bounds = parent.bounds;
  const auto direction = limits_.directions[static_cast<std::size_t>(parent.split.feature)];
  if (direction == 0) return;
  const auto middle = value_of(left.sums, units_, limits_.l2, parent.bounds) / 2 +
                      value_of(right.sums, units_, limits_.l2, parent.bounds) / 2;
  (direction > 0 ? left : right).bounds.high = middle;
  (direction > 0 ? right : left).bounds.low = middle;
}

std::pair<TreeGrower::Leaf, TreeGrower::Leaf> TreeGrower::divide(Leaf& leaf) {
  const auto& split = leaf.split;
  const auto j = static_cast<std::size_t>(split.feature);
  std::uint8_t goes_left[edge_stride] = {};
  for (std::int32_t b = 0; b < bins_.count[j]; ++b)
    goes_left[b] = (split.by_set ? holds(split.set, static_cast<std::size_t>(b)) : b <= split.bin) ? 1 : 0;
  goes_left[bins_.count[j]] = split.missing_left ? 1 : 0;
  const auto middle = leaf.begin + parted(binned_, split.feature, goes_left,
                                          order_.subspan(static_cast<std::size_t>(leaf.begin),
                                                         static_cast<std::size_t>(leaf.end - leaf.begin)),
                                          spare_.data());
  const auto right_sums = leaf.sums - split.left;
  const auto left = tree_.add();
  const auto right = tree_.add();
  auto& node = tree_.nodes[static_cast<std::size_t>(leaf.node)];
  node = {.threshold = bins_.edges_of(split.feature)[split.bin],
          .feature = split.feature,
          .left = left,
          .bin = split.by_set ? static_cast<std::int32_t>(tree_.sets.size()) : split.bin,
          .missing_left = bins_.missing[j] ? split.missing_left : split.left.rows > right_sums.rows,
          .by_set = split.by_set};
  if (split.by_set) tree_.sets.push_back(split.set);
  Leaf below{left, leaf.begin, middle, leaf.depth + 1, split.left, {}, {}},
      above{right, middle, leaf.end, leaf.depth + 1, right_sums, {}, {}};
  if (!limits_.directions.empty()) bound(leaf, below, above);
  return {std::move(below), std::move(above)};
}

void TreeGrower::learn_cells(Leaf& parent, Leaf& left, Leaf& right) {
  if (!may_divide(left) && !may_divide(right)) return release(parent);
  auto &fewer = left.sums.rows <= right.sums.rows ? left : right, &more = &fewer == &left ? right : left;
  fewer.cells = new_cells();
  sum_cells(fewer, fewer.cells, nullptr);
  more.cells = std::move(parent.cells);
  if (may_divide(more)) {
    take_away(more.cells, fewer.cells);
    find(more);
  }
  if (may_divide(fewer)) find(fewer);
}

void TreeGrower::write_value(const Leaf& leaf) {
  tree_.values[static_cast<std::size_t>(leaf.node)] = value_of(leaf.sums, units_, limits_.l2, leaf.bounds);
}

GrownTree TreeGrower::grow(const at::Tensor& pairs, std::span<std::uint32_t> order, const Units& units,
                           heatpp::detail::Watch& watch) {
  pairs_ = reinterpret_cast<const Pair*>(pairs.const_data_ptr<std::int64_t>());
  order_ = order;
  units_ = units;
  tree_ = {};
  tree_.roots.push_back(tree_.add());
  Leaf root{0, 0, std::ssize(order), 0, {}, new_cells(), {}};
  auto votes = static_cast<std::int64_t>(watch.vote());
  sum_cells(root, root.cells, &votes);
  watch.hear(static_cast<double>(votes));
  for (std::int64_t i = 0; i < bins_.cells_of(0); ++i) root.sums += cells_of(root.cells)[i];
  if (may_divide(root)) find(root);

  const auto worse = [](const Leaf& a, const Leaf& b) {
    return a.split.gain != b.split.gain ? a.split.gain < b.split.gain : a.node > b.node;
  };
  std::vector<Leaf> open{std::move(root)}, closed;
  while (!open.empty()) {
    std::ranges::pop_heap(open, worse);
    auto leaf = std::move(open.back());
    open.pop_back();
    const auto leaves = std::ssize(open) + std::ssize(closed) + 1;
    if (leaf.split.feature < 0 || leaves >= limits_.leaves) {
      release(leaf);
      closed.push_back(std::move(leaf));
      continue;
    }
    auto [left, right] = divide(leaf);
    if (leaves + 1 < limits_.leaves) learn_cells(leaf, left, right);
    else release(leaf);
    for (auto* child : {&left, &right}) {
      open.push_back(std::move(*child));
      std::ranges::push_heap(open, worse);
    }
  }
  GrownTree grown;
  for (const auto& leaf : closed) {
    if (leaf.node > 0) write_value(leaf);
    grown.leaves.push_back({leaf.node, order_.subspan(static_cast<std::size_t>(leaf.begin),
                                                      static_cast<std::size_t>(leaf.end - leaf.begin))});
  }
  grown.tree = std::move(tree_);
  return grown;
}

}  // namespace heatpp::ml::detail
