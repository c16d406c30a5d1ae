#pragma once

#include <cstdint>

namespace heatpp::detail {

/// A value and its position; position -1 stands for nothing.
template <class T>
struct Found {
  T value{};
  std::int64_t position = -1;
};

/// The first largest (or smallest) of n values, or the first NaN. T is float, double, int32_t or int64_t. One pass.
template <class T>
[[nodiscard]] Found<T> first_extremum(const T* data, std::int64_t n, bool largest);

/// The better one of two: NaN before numbers, then the larger (or smaller), then the first.
template <class T>
[[nodiscard]] Found<T> better(const Found<T>& a, const Found<T>& b, bool largest) {
  if (a.position < 0 || b.position < 0) return a.position < 0 ? b : a;
  const bool nan_a = a.value != a.value, nan_b = b.value != b.value;
  if (nan_a != nan_b) return nan_a ? a : b;
  const bool equal = nan_a || a.value == b.value;
  if (equal) return a.position < b.position ? a : b;
  return (a.value > b.value) == largest ? a : b;
}

}  // namespace heatpp::detail
