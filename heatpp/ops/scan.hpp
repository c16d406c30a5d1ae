#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// Options of cumsum, cumprod and their like.
struct ScanOptions {
  std::optional<int> axis = std::nullopt;     ///< nullopt: of the flattened array
  std::optional<Dtype> dtype = std::nullopt;  ///< to which elements are converted first, and of the result
  bool include_initial = false;               ///< the sum or product of nothing in front, along an axis one longer
};

/// The running sum and product along `axis`, in the layout of `x`. Whole numbers and bool give int64. Along the split
/// axis: a local scan and one exscan of a slice; along others: local. With `include_initial` the result is cut as
/// that of `concatenate`. Which products with infinite complex numbers are NaN depends on their order, and may differ
/// from NumPy's. Throws IndexError for an axis out of range.
[[nodiscard]] DNDarray cumsum(const DNDarray& x, const ScanOptions& options = {});
[[nodiscard]] DNDarray cumprod(const DNDarray& x, const ScanOptions& options = {});
/// The same with 0 and 1 in the place of NaN.
[[nodiscard]] DNDarray nancumsum(const DNDarray& x, const ScanOptions& options = {});
[[nodiscard]] DNDarray nancumprod(const DNDarray& x, const ScanOptions& options = {});

/// Written over `x`. Throws TypeError where the sums are of another kind.
const DNDarray& cumsum_(const DNDarray& x, int axis);
const DNDarray& cumprod_(const DNDarray& x, int axis);
inline const DNDarray& cumproduct_(const DNDarray& x, int axis) { return cumprod_(x, axis); }

[[nodiscard]] inline DNDarray cumsum(const DNDarray& x, std::optional<int> axis) {
  return cumsum(x, ScanOptions{.axis = axis});
}
[[nodiscard]] inline DNDarray cumprod(const DNDarray& x, std::optional<int> axis) {
  return cumprod(x, ScanOptions{.axis = axis});
}
[[nodiscard]] inline DNDarray nancumsum(const DNDarray& x, std::optional<int> axis) {
  return nancumsum(x, ScanOptions{.axis = axis});
}
[[nodiscard]] inline DNDarray nancumprod(const DNDarray& x, std::optional<int> axis) {
  return nancumprod(x, ScanOptions{.axis = axis});
}
/// Other names of cumsum and cumprod.
[[nodiscard]] inline DNDarray cumulative_sum(const DNDarray& x, const ScanOptions& options = {}) {
  return cumsum(x, options);
}
[[nodiscard]] inline DNDarray cumulative_sum(const DNDarray& x, std::optional<int> axis) {
  return cumulative_sum(x, ScanOptions{.axis = axis});
}
[[nodiscard]] inline DNDarray cumulative_prod(const DNDarray& x, const ScanOptions& options = {}) {
  return cumprod(x, options);
}
[[nodiscard]] inline DNDarray cumulative_prod(const DNDarray& x, std::optional<int> axis) {
  return cumulative_prod(x, ScanOptions{.axis = axis});
}
[[nodiscard]] inline DNDarray cumproduct(const DNDarray& x, const ScanOptions& options = {}) {
  return cumprod(x, options);
}
[[nodiscard]] inline DNDarray cumproduct(const DNDarray& x, std::optional<int> axis) {
  return cumproduct(x, ScanOptions{.axis = axis});
}

}  // namespace heatpp
