#include <heatpp/ml/tree/detail/forest.hpp>

namespace heatpp::ml::detail {
namespace {

constexpr double rounding = 1e-12;  // a smaller relative difference of means does not count

/// The rows on one side of a split.
struct Side {
  std::vector<std::int64_t> sums;
  std::int64_t rows = 0;

  void set(std::span<const std::int64_t> numbers, const ForestUnits& units) {
    sums.assign(numbers.begin(), numbers.end());
    rows = units.rows(sums.data());
  }
  void move_to(Side& other, const std::int64_t* cell, const ForestUnits& units) {
    for (std::size_t c = 0; c < sums.size(); ++c) {
      sums[c] -= cell[c];
      other.sums[c] += cell[c];
    }
    const auto moved = units.rows(cell);
    rows -= moved;
    other.rows += moved;
  }
};

/// Returns the sum of squared class weights over their sum, i.e. the weight minus its impurity.
double purity(const Side& side, const ForestUnits& units) {
  double squares = 0, sum = 0;
  for (const auto number : std::span(side.sums).first(static_cast<std::size_t>(units.classes))) {
    const auto w = units.weight_of(number);
    squares += w * w;
    sum += w;
  }
  return squares / sum;
}

double gain_of(const Side& left, const Side& right, const ForestUnits& units) {
  if (units.classes > 0) return purity(left, units) + purity(right, units);
  const auto w = units.weight_of(left.sums[1]), w2 = units.weight_of(right.sums[1]);
  const auto mean = units.gradient_of(left.sums[0]) / w, mean2 = units.gradient_of(right.sums[0]) / w2;
  const auto difference = mean - mean2;
  if (std::abs(difference) <= rounding * (std::abs(mean) + std::abs(mean2))) return 0;
  return w * w2 / (w + w2) * difference * difference;
}

struct Search {
  const Bins& bins;
  std::span<const std::int64_t> all;
  const ForestUnits& units;
  std::int64_t rows_of_leaf;
  ForestSplit best{};

  [[nodiscard]] bool empty(const std::int64_t* cell) const {
    return std::all_of(cell, cell + all.size(), [](std::int64_t x) { return x == 0; });
  }

  void of_feature(std::int32_t j, const std::int64_t* cells) {
    const auto lanes = static_cast<std::int64_t>(all.size());
    const auto count = bins.count[static_cast<std::size_t>(j)];
    const bool missing = bins.missing[static_cast<std::size_t>(j)] != 0 && !empty(cells + count * lanes);
    pass(j, cells, count, nullptr);
    if (missing) pass(j, cells, count, cells + count * lanes);
  }

  /// Tries all splits of a feature; missing rows go left if they are given.
  void pass(std::int32_t j, const std::int64_t* cells, std::int32_t count, const std::int64_t* missing) {
    const auto lanes = all.size();
    Side left{std::vector<std::int64_t>(lanes, 0)}, right;
    right.set(all, units);
    if (missing) right.move_to(left, missing, units);
    bool waiting = false;
    for (std::int32_t b = 0; b < count; ++b) {
      const auto* cell = cells + static_cast<std::size_t>(b) * lanes;
      if (empty(cell)) continue;
      if (std::exchange(waiting, false)) best.following = b;
      right.move_to(left, cell, units);
      if (right.rows < std::max<std::int64_t>(1, rows_of_leaf)) return;
      if (left.rows < rows_of_leaf) continue;
      if (const auto gain = gain_of(left, right, units); gain > best.gain) {
        best = {gain, j, b, b, missing != nullptr, left.sums};
        waiting = true;
      }
    }
  }
};

}  // namespace

ForestSplit best_forest_split(const Bins& bins, std::span<const std::int32_t> features, const std::int64_t* cells,
                              std::span<const std::int64_t> all, const ForestUnits& units, std::int64_t rows_of_leaf) {
  Search search{bins, all, units, rows_of_leaf};
  for (const auto j : features) {
    search.of_feature(j, cells);
    cells += bins.cells_of(j) * static_cast<std::int64_t>(all.size());
  }
  auto best = std::move(search.best);
  if (best.gain >= 0 && units.classes > 0) {
    Side whole;
    whole.set(all, units);
    best.gain = std::max(0.0, best.gain - purity(whole, units));
  }
  return best;
}

}  // namespace heatpp::ml::detail
