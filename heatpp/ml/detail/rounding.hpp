#pragma once

#include <algorithm>

namespace heatpp::ml::detail {

/// Returns the largest number of rows of which the rounding adds up in a sum over `n` rows (Chan, Golub, LeVeque 1983).
/// Sums are of pieces of up to 4096 rows, which are merged about their means: more rows lose no more. So the threshold
/// for rounding does not grow with their number.
[[nodiscard]] inline double rounding_rows(double n) { return std::clamp(n, 1.0, 4096.0); }

}  // namespace heatpp::ml::detail
