#pragma once

#include <heatpp/ml/detail/pieces.hpp>

#include <bit>
#include <cmath>

// Sums of rows as whole numbers: the same in any order, so that trees are alike on any number of ranks and threads.
namespace heatpp::ml::detail {

/// Two numbers that are added at once: of a row, or summed over rows.
using Pair = std::int64_t __attribute__((vector_size(16)));

/// The nearest whole number, of less than 2^51.
[[nodiscard]] inline std::int64_t nearest(double x) {
  constexpr double middle = 0x1.8p52;
  return std::bit_cast<std::int64_t>(x + middle) - std::bit_cast<std::int64_t>(middle);
}

/// A power of two of which `largest` is less than 2^bits.
[[nodiscard]] inline double unit_of(double largest, int bits) {
  return largest > 0 ? std::ldexp(1.0, std::ilogb(largest) + 1 - bits) : 1.0;
}

/// How weights are kept beside numbers of rows: a row counts 2^shift, and what it weighs is a whole number of units, of
/// which all rows together weigh less than 2^shift.
struct Units {
  int shift = 0;
  double weight = 1;    ///< of one unit
  double gradient = 1;  ///< of one unit of the other number of a pair
  [[nodiscard]] std::int64_t one() const { return std::int64_t{1} << shift; }
  [[nodiscard]] std::int64_t rows(std::int64_t sum) const { return sum >> shift; }
  [[nodiscard]] double weight_of(std::int64_t sum) const { return weight * static_cast<double>(sum & (one() - 1)); }
  [[nodiscard]] double gradient_of(std::int64_t sum) const { return gradient * static_cast<double>(sum); }
};
/// For at most `rows` rows of all ranks, of weights of together at most `total`, and gradients up to `largest`.
[[nodiscard]] inline Units units_for(std::int64_t rows, double total, double largest) {
  const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(rows)));
  const int shift = std::min(50, 62 - bits);
  return {shift, unit_of(total, shift - 1), unit_of(largest, std::min(50, 61 - bits))};
}

/// The exact sums over all rows of columns of numbers that are rounded to 2^-50, or as sums allow, of their largest.
/// Collective: two all-reduces of 8 (columns + 2) and 8 columns bytes, none where rows are replicated. Throws
/// ValueError where one is not finite.
[[nodiscard]] std::vector<double> exact_sums(const char* op, const Rows& rows, const std::vector<at::Tensor>& columns);

}  // namespace heatpp::ml::detail
