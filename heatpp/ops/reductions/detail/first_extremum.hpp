#pragma once

#include <heatpp/core/detail/torch.hpp>

#include <compare>
#include <heatpp/ops/operands/detail/around.hpp>

namespace heatpp::detail {

/// A complex number in NumPy's order: by the real, then by the imaginary part; not equal to itself if either is NaN.
struct Ordered {
  double real = 0, imag = 0;
  auto operator<=>(const Ordered&) const = default;
};

/// A value and its position; position -1 means none.
template <class T>
struct Found {
  T value{};
  std::int64_t position = -1;
};

/// A type that holds every value of T. A few such types keep the functions that combine ranks few.
template <class T>
using Wide =
    std::conditional_t<std::is_integral_v<T>, std::int64_t, std::conditional_t<std::is_floating_point_v<T>, double, T>>;

/// Finds the first largest (or smallest) value along the middle axis, or the first NaN, for each of the others. T is a
/// whole number of 8 to 64 bits, uint8_t, float or double. One pass.
template <class T>
[[nodiscard]] std::vector<Found<Wide<T>>> first_extrema(const T* data, const Around& extents, bool largest);

/// Returns the better of two: NaN before numbers, then the larger (or smaller), then the first.
template <class T>
[[nodiscard]] Found<T> better(const Found<T>& a, const Found<T>& b, bool largest) {
  if (a.position < 0 || b.position < 0) return a.position < 0 ? b : a;
  const bool nan_a = a.value != a.value, nan_b = b.value != b.value;
  if (nan_a != nan_b) return nan_a ? a : b;
  const bool equal = nan_a || a.value == b.value;
  if (equal) return a.position < b.position ? a : b;
  return (a.value > b.value) == largest ? a : b;
}

/// Finds the extremes of complex numbers.
[[nodiscard]] std::vector<Found<Ordered>> complex_extrema(const at::Tensor& block, std::int64_t axis, bool largest);
/// Returns their values over several axes, at least one.
[[nodiscard]] at::Tensor complex_extremum(const at::Tensor& block, at::IntArrayRef axes, bool keepdims, bool largest);
/// Finds the extremes over all ranks of each element of a contiguous block.
void complex_extremum_across(at::Tensor& block, const Communicator& comm, bool largest);

}  // namespace heatpp::detail
