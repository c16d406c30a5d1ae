#pragma once

#include <cstdint>

namespace heatpp::detail {

/// Sums of x - near and of its square.
struct ShiftedSums {
  double first = 0, second = 0;
};

/// Sums over n neighbors.
template <class T>
[[nodiscard]] ShiftedSums shifted_line_sums(const T* x, std::int64_t n, double near);

/// Adds sums over rows that are `stride` elements apart, for each of `width` neighboring columns, to `first` and
/// `second`. Reads rows as they lie in memory.
template <class T>
void add_shifted_column_sums(const T* x, std::int64_t rows, std::int64_t stride, std::int64_t width, const double* near,
                             double* first, double* second);

}  // namespace heatpp::detail
