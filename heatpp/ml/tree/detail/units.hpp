#pragma once

#include <heatpp/ml/detail/pieces.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

// Sums of rows as whole numbers: equal in any order, so that trees do not depend on the number of ranks and threads.
namespace heatpp::ml::detail {

/// Two numbers of a row that are added at once.
using Pair = std::int64_t __attribute__((vector_size(16)));

/// Returns the nearest whole number, for numbers below 2^51.
[[nodiscard]] inline std::int64_t nearest(double x) {
  constexpr double middle = 0x1.8p52;
  return std::bit_cast<std::int64_t>(x + middle) - std::bit_cast<std::int64_t>(middle);
}

/// Returns a power of two of which `largest` is less than 2^bits multiples.
[[nodiscard]] inline double unit_of(double largest, int bits) {
  constexpr auto least = std::numeric_limits<double>::min();
  return largest > 0 ? std::max(least, std::ldexp(1.0, std::ilogb(largest) + 1 - bits)) : 1.0;
}

/// Returns 32 pseudorandom bits of a row by its global position: the end of MurmurHash3 (Appleby 2011).
[[nodiscard]] inline std::uint32_t bits_of_row(std::uint64_t row) {
  auto bits = static_cast<std::uint32_t>(row) ^ (static_cast<std::uint32_t>(row >> 32) * 0x9E3779B9U);
  bits = (bits ^ (bits >> 16)) * 0x85EBCA6BU;
  bits = (bits ^ (bits >> 13)) * 0xC2B2AE35U;
  return bits ^ (bits >> 16);
}
/// Converts a number to whole units. 2^20 units and more are rounded to nearest, so that equal rows stay equal. Smaller
/// ones are rounded up with the probability of their fraction, by 16 bits of the row: sums over many rows are right
/// even if each row has less than a unit (stochastic rounding, Croci et al. 2022). Whole numbers stay.
[[nodiscard]] inline std::int64_t in_units(double x, std::uint32_t bits) {
  constexpr double many = 0x1p20;
  const auto dither = static_cast<double>(static_cast<std::int32_t>(bits & 0xFFFFU)) * 0x1p-16 + (0x1p-17 - 0.5);
  return nearest(x + (std::abs(x) < many ? dither : 0.0));
}

/// The sums of boosting over rows: gradients and second derivatives in units, and the number of rows.
struct Cell {
  std::int64_t gradient = 0, weight = 0, rows = 0;
  Cell& operator+=(const Cell& other) {
    gradient += other.gradient;
    weight += other.weight;
    rows += other.rows;
    return *this;
  }
  [[nodiscard]] friend Cell operator-(const Cell& a, const Cell& b) {
    return {a.gradient - b.gradient, a.weight - b.weight, a.rows - b.rows};
  }
};
inline constexpr std::int64_t cell_numbers = 3;
static_assert(sizeof(Cell) == cell_numbers * sizeof(std::int64_t));

/// The units of boosting. A row is a pair: its gradient, and its weight with 2^shift for the row itself. Up to
/// 2^together pairs are added before they become a cell.
struct Units {
  double gradient = 1, weight = 1;  ///< size of one unit
  int together = 0, shift = 62;
  [[nodiscard]] std::int64_t one() const { return std::int64_t{1} << shift; }
  [[nodiscard]] std::int64_t rows_together() const { return std::int64_t{1} << together; }
  [[nodiscard]] Cell cell(const Pair& sum) const { return {sum[0], sum[1] & (one() - 1), sum[1] >> shift}; }
};
/// Returns units for `rows` rows of all ranks, with gradients up to `largest_gradient`, and weights up to
/// `largest_weight` that sum to at most `total_weight`.
[[nodiscard]] Units units_for(std::int64_t rows, double total_weight, double largest_weight, double largest_gradient);

/// The units of forests. The upper bits of weights count rows if weights stay exact enough; else a separate lane, the
/// last one, counts them.
struct ForestUnits {
  std::int64_t classes = 0;  ///< 0 for numbers, whose first lane is the gradient
  int shift = 0;             ///< of counts in lanes of weights; 0: counts have their own lane
  double weight = 1, gradient = 1;
  [[nodiscard]] bool apart() const { return shift == 0; }
  [[nodiscard]] std::int64_t first_weight() const { return classes > 0 ? 0 : 1; }
  [[nodiscard]] std::int64_t end_of_weights() const { return classes > 0 ? classes : 2; }
  [[nodiscard]] std::int64_t lanes() const { return end_of_weights() + (apart() ? 1 : 0); }
  /// Return what a row adds to its weight, and to the last lane.
  [[nodiscard]] std::int64_t one() const { return apart() ? 0 : std::int64_t{1} << shift; }
  [[nodiscard]] std::int64_t one_apart() const { return apart() ? 1 : 0; }
  /// Returns the number of rows in all lanes of a cell.
  [[nodiscard]] std::int64_t rows(const std::int64_t* sums) const {
    if (apart()) return sums[end_of_weights()];
    std::int64_t rows = 0;
    for (auto c = first_weight(); c < end_of_weights(); ++c) rows += sums[c] >> shift;
    return rows;
  }
  [[nodiscard]] double weight_of(std::int64_t sum) const {
    return weight * static_cast<double>(apart() ? sum : sum & (one() - 1));
  }
  [[nodiscard]] double gradient_of(std::int64_t sum) const { return gradient * static_cast<double>(sum); }
};
/// Properties of `rows` rows of all ranks, each counted up to `times` times: weights that are all 1 or differ, with sum
/// `total`, and gradients up to `largest`.
struct ForestNumbers {
  std::int64_t rows, classes;
  double times, total;
  bool weighted;
  double largest = 0;
};
[[nodiscard]] ForestUnits forest_units(const ForestNumbers& numbers);

/// Returns the sums over all rows of columns of numbers, which are rounded to 2^-50 of their largest, or coarser if
/// sums of two int64 require it. Collective: two all-reduces of 8 (columns + 2) and 16 columns bytes, none if rows are
/// replicated. Throws ValueError if one is not finite.
[[nodiscard]] std::vector<double> exact_sums(const char* op, const Rows& rows, const std::vector<at::Tensor>& columns);

}  // namespace heatpp::ml::detail
