#include <ATen/Parallel.h>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ml/tree/detail/boosted_tree.hpp>

namespace heatpp::ml::detail {
namespace {

constexpr double least_weight = 1e-3;  // of second derivatives in a leaf
constexpr double rounding = 0x1p-40;   // a smaller share of what a node has is no gain

/// Sums of the rows of a node, or left of each of its divisions.
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

/// What the division behind each bin leaves of the loss, negated and without what the node has; -1 where it may not be.
HEATPP_SIMD void gains(const Prefixes& left, std::int64_t count, const Sums& all, double l2, double least_rows,
                       double* __restrict out) {
  for (std::int64_t b = 0; b < count; ++b) {
    const auto g = left.gradient[b], h = left.weight[b], n = left.rows[b];
    const auto g2 = all.gradient - g, h2 = all.weight - h, n2 = all.rows - n;
    const bool may = (n >= least_rows) & (n2 >= least_rows) & (h >= least_weight) & (h2 >= least_weight);
    const auto gain = g * g / (h + l2) + g2 * g2 / (h2 + l2);
    out[b] = may ? gain : -1.0;
  }
}

/// The best of the divisions behind the first `count` bins of a feature.
void improve(BoostedSplit& best, const Cell* cells, std::int64_t count, const Cell& before, const Sums& all,
             const Units& units, const GrowthLimits& limits) {
  Prefixes left;
  double gain[edge_stride];
  auto sum = before;
  for (std::int64_t b = 0; b < count; ++b) {
    sum += cells[b];
    const auto [gradient, weight, rows] = in_numbers(sum, units);
    left.gradient[b] = gradient;
    left.weight[b] = weight;
    left.rows[b] = rows;
  }
  gains(left, count, all, limits.l2, static_cast<double>(limits.rows_of_leaf), gain);
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

}  // namespace

BoostedSplit best_split(const Bins& bins, const Cell* cells, const Cell& all, const Units& units,
                        const GrowthLimits& limits) {
  const auto sums = in_numbers(all, units);
  std::vector<BoostedSplit> of_feature(static_cast<std::size_t>(bins.features));
  constexpr std::int64_t few = 16;  // features that are not worth another thread
  at::parallel_for(0, bins.features, few, [&](std::int64_t first, std::int64_t last) {
    for (auto j = static_cast<std::size_t>(first); j < static_cast<std::size_t>(last); ++j) {
      auto& best = of_feature[j];
      const auto* own = cells + bins.offsets[j];
      const auto count = bins.count[j];
      const bool missing = bins.missing[j] != 0;
      improve(best, own, count - 1 + (missing ? 1 : 0), Cell{}, sums, units, limits);
      const auto with_missing_right = best.gain;
      if (missing) improve(best, own, count - 1, own[count], sums, units, limits);
      best.missing_left = best.gain > with_missing_right;
    }
  });
  BoostedSplit best;
  for (std::size_t j = 0; j < of_feature.size(); ++j)
    if (of_feature[j].gain > best.gain) {
      best = of_feature[j];
      best.feature = static_cast<std::int32_t>(j);
    }
  const auto without = sums.gradient * sums.gradient / (sums.weight + limits.l2);
  const auto gain = best.gain - without;
  const auto chance = units.gradient * units.gradient * sums.rows / (sums.weight + limits.l2);  // of rounded rows
  if (!(gain > rounding * best.gain + chance)) return {};
  best.gain = gain;
  return best;
}

}  // namespace heatpp::ml::detail
