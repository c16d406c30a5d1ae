#include <ATen/Parallel.h>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ml/tree/detail/boosted_tree.hpp>

#include <algorithm>
#include <cmath>

namespace heatpp::ml::detail {
namespace {

constexpr double least_weight = 1e-3;     // least sum of second derivatives in a leaf
constexpr double rounding = 0x1p-40;      // a smaller share of the node's value is no gain
constexpr double least_rows_of_set = 10;  // least sum of second derivatives, in rows, of a category in a set
constexpr double never = -std::numeric_limits<double>::infinity();

/// Sums of the rows of a node, or of those left of each of its splits.
struct Sums {
  double gradient, weight, rows;
};
Sums in_numbers(const Cell& cell, const Units& units) {
  return {units.gradient * static_cast<double>(cell.gradient), units.weight * static_cast<double>(cell.weight),
          static_cast<double>(cell.rows)};
}

struct Prefixes {
  double gradient[edge_stride], weight[edge_stride], rows[edge_stride];
};

/// Computes the gain of the split after each bin: minus the loss that it leaves, without that of the node; -infinity if
/// the split is not allowed.
HEATPP_SIMD void gains(const Prefixes& left, std::int64_t count, const Sums& all, double l2, double least_rows,
                       double* __restrict out) {
  for (std::int64_t b = 0; b < count; ++b) {
    const auto g = left.gradient[b], h = left.weight[b], n = left.rows[b];
    const auto g2 = all.gradient - g, h2 = all.weight - h, n2 = all.rows - n;
    const bool may = (n >= least_rows) & (n2 >= least_rows) & (h >= least_weight) & (h2 >= least_weight);
    const auto gain = g * g / (h + l2) + g2 * g2 / (h2 + l2);
    out[b] = may ? gain : never;
  }
}

/// The node to be split, and the limits for splits.
struct Asked {
  const Cell& all;
  const Sums& sums;  ///< those of `all`
  const Units& units;
  const GrowthLimits& limits;
  const Bounds& bounds;
  [[nodiscard]] bool bounded() const { return !limits.directions.empty(); }
};

/// Returns the gain of one split, with values within bounds that rise or fall as `direction` says.
double bounded_gain(const Cell& left, const Asked& asked, std::int64_t direction) {
  const auto right = asked.all - left;
  const auto [g, h, n] = in_numbers(left, asked.units);
  const auto [g2, h2, n2] = in_numbers(right, asked.units);
  const auto least = static_cast<double>(asked.limits.rows_of_leaf);
  if (n < least || n2 < least || h < least_weight || h2 < least_weight) return never;
  const auto value = value_of(left, asked.units, asked.limits.l2, asked.bounds),
             value2 = value_of(right, asked.units, asked.limits.l2, asked.bounds);
  if (static_cast<double>(direction) * (value2 - value) < 0) return never;
  return -g * value - g2 * value2;
}

/// Finds the best of the splits after the first `count` bins of a feature.
void improve(BoostedSplit& best, const Cell* cells, std::int64_t count, const Cell& before, const Asked& asked,
             std::int64_t direction) {
  Prefixes left;
  double gain[edge_stride];
  auto sum = before;
  for (std::int64_t b = 0; b < count; ++b) {
    sum += cells[b];
    if (asked.bounded()) gain[b] = bounded_gain(sum, asked, direction);
    const auto [gradient, weight, rows] = in_numbers(sum, asked.units);
    left.gradient[b] = gradient;
    left.weight[b] = weight;
    left.rows[b] = rows;
  }
  if (!asked.bounded())
    gains(left, count, asked.sums, asked.limits.l2, static_cast<double>(asked.limits.rows_of_leaf), gain);
  std::int64_t at = -1;
  for (std::int64_t b = 0; b < count; ++b)
    if (gain[b] > best.gain) {
      best.gain = gain[b];
      at = b;
    }
  if (at < 0) return;
  best.bin = static_cast<std::int32_t>(at);
  best.left = before;
  for (std::int64_t b = 0; b <= at; ++b) best.left += cells[b];
}

/// Returns the bins of categories with enough rows, sorted by gradient / second derivative.
std::vector<std::size_t> ordered_categories(const Cell* cells, std::size_t count, const Asked& asked) {
  const auto per_row = asked.sums.rows / asked.sums.weight;
  std::vector<std::pair<double, std::size_t>> found;
  for (std::size_t b = 0; b < count; ++b)
    if (const auto [g, h, n] = in_numbers(cells[b], asked.units); h * per_row >= least_rows_of_set)
      found.emplace_back(g / (h + least_rows_of_set), b);
  std::ranges::sort(found);
  std::vector<std::size_t> bins;
  for (const auto& [ratio, bin] : found) bins.push_back(bin);
  return bins;
}

/// Finds the best set of categories; if NaN occurs, it is the last category.
void improve_by_set(BoostedSplit& best, const Cell* cells, std::int64_t count, bool missing, const Asked& asked) {
  auto order = ordered_categories(cells, static_cast<std::size_t>(count) + (missing ? 1 : 0), asked);
  if (order.size() < 2) return;
  for (const bool falling : {false, true}) {
    if (falling) std::ranges::reverse(order);
    BoostedSplit tried{.by_set = true};
    for (std::size_t i = 0; i < (order.size() + 1) / 2 - (falling ? 1 : 0); ++i) {
      tried.left += cells[order[i]];
      insert(tried.set, order[i]);
      tried.gain = bounded_gain(tried.left, asked, 0);
      tried.missing_left = missing && holds(tried.set, static_cast<std::size_t>(count));
      if (tried.gain > best.gain) best = tried;
    }
  }
}

/// Finds the best split by one feature.
void improve_by(BoostedSplit& best, std::size_t j, const Bins& bins, const Cell* cells, const Asked& asked) {
  const auto* own = cells + bins.offsets[j];
  const auto count = bins.count[j];
  const bool missing = bins.missing[j] != 0;
  if (!bins.by_set.empty() && bins.by_set[j] != 0) return improve_by_set(best, own, count, missing, asked);
  const auto direction = asked.bounded() ? asked.limits.directions[j] : 0;
  improve(best, own, count - 1 + (missing ? 1 : 0), Cell{}, asked, direction);
  const auto with_missing_right = best.gain;
  if (missing) improve(best, own, count - 1, own[count], asked, direction);
  best.missing_left = best.gain > with_missing_right;
}

}  // namespace

BoostedSplit best_split(const Bins& bins, const Cell* cells, const Cell& all, const Units& units,
                        const GrowthLimits& limits, const Bounds& bounds) {
  const auto sums = in_numbers(all, units);
  const Asked asked{all, sums, units, limits, bounds};
  std::vector<BoostedSplit> of_feature(static_cast<std::size_t>(bins.features), BoostedSplit{.gain = never});
  constexpr std::int64_t few = 16;  // features that do not justify another thread
  at::parallel_for(0, bins.features, few, [&](std::int64_t first, std::int64_t last) {
    for (auto j = static_cast<std::size_t>(first); j < static_cast<std::size_t>(last); ++j)
      improve_by(of_feature[j], j, bins, cells, asked);
  });
  BoostedSplit best{.gain = never};
  for (std::size_t j = 0; j < of_feature.size(); ++j)
    if (of_feature[j].gain > best.gain) {
      best = of_feature[j];
      best.feature = static_cast<std::int32_t>(j);
    }
  const auto without = asked.bounded() ? -sums.gradient * value_of(all, units, limits.l2, bounds)
                                       : sums.gradient * sums.gradient / (sums.weight + limits.l2);
  const auto gain = best.gain - without;
  const auto chance = units.gradient * units.gradient * sums.rows / (sums.weight + limits.l2);  // from rounding
  if (!(gain > rounding * std::max(std::abs(best.gain), std::abs(without)) + chance)) return {};
  best.gain = gain;
  return best;
}

}  // namespace heatpp::ml::detail
