#pragma once

#include <algorithm>

namespace heatpp::ml::detail {

/// How many rows' rounding a sum over `n` rows has at most (Chan, Golub, LeVeque 1983). Rows are summed in pieces of up
/// to 4096, which are merged about their means: more of them lose no more, so that what counts as rounding does not
/// grow with their number.
[[nodiscard]] inline double rounding_rows(double n) { return std::clamp(n, 1.0, 4096.0); }

}  // namespace heatpp::ml::detail
