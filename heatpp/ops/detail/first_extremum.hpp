#pragma once

#include <heatpp/core/detail/torch.hpp>

#include <compare>

namespace heatpp::detail {

/// A complex number in NumPy's order: by the real, then by the imaginary part; unlike itself where either is NaN.
struct Ordered {
  double real = 0, imag = 0;
  auto operator<=>(const Ordered&) const = default;
};

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

/// The first largest (or smallest) complex number along an axis, or the first with NaN, for each of the others.
[[nodiscard]] std::vector<Found<Ordered>> complex_extrema(const at::Tensor& block, std::int64_t axis, bool largest);
/// Their values over several axes, of which there is at least one.
[[nodiscard]] at::Tensor complex_extremum(const at::Tensor& block, at::IntArrayRef axes, bool keepdims, bool largest);
/// The extremes over all ranks of each element of a contiguous block.
void complex_extremum_across(at::Tensor& block, const Communicator& comm, bool largest);

}  // namespace heatpp::detail
