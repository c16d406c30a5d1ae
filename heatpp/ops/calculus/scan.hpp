#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp {

/// Options of cumsum, cumprod and similar functions.
struct ScanOptions {
  std::optional<int> axis = std::nullopt;     ///< nullopt: the flattened array
  std::optional<Dtype> dtype = std::nullopt;  ///< dtype of the result; elements are converted first
  bool include_initial = false;               ///< put the empty sum or product in front, along an axis longer by one
};

// Running sums and products along `axis`, in the layout of `x`. Whole numbers and bool give int64. Along the split
// axis: a local scan and one exscan of a slice; along others: local. With `include_initial` the result is cut as by
// `concatenate`. The order decides which products with infinite complex numbers are NaN, so this may differ from NumPy.
// They throw IndexError for an axis out of range.

/// Returns the running sum along an axis; for whole numbers and bool as int64.
[[nodiscard]] DNDarray cumsum(const DNDarray& x, const ScanOptions& options = {});
HEATPP_ALONG_AXIS(DNDarray, cumsum, ScanOptions)

/// Returns the running product along an axis; for whole numbers and bool as int64.
[[nodiscard]] DNDarray cumprod(const DNDarray& x, const ScanOptions& options = {});
HEATPP_ALONG_AXIS(DNDarray, cumprod, ScanOptions)

/// Another name of `cumprod`.
[[nodiscard]] inline DNDarray cumproduct(const DNDarray& x, const ScanOptions& options = {}) {
  return cumprod(x, options);
}
HEATPP_ALONG_AXIS(DNDarray, cumproduct, ScanOptions)

/// Returns the running sum, in which NaN counts as 0.
[[nodiscard]] DNDarray nancumsum(const DNDarray& x, const ScanOptions& options = {});
HEATPP_ALONG_AXIS(DNDarray, nancumsum, ScanOptions)

/// Returns the running product, in which NaN counts as 1.
[[nodiscard]] DNDarray nancumprod(const DNDarray& x, const ScanOptions& options = {});
HEATPP_ALONG_AXIS(DNDarray, nancumprod, ScanOptions)

/// Returns `cumsum` as in the array API. Throws ValueError without an axis if there are several.
[[nodiscard]] DNDarray cumulative_sum(const DNDarray& x, const ScanOptions& options = {});
HEATPP_ALONG_AXIS(DNDarray, cumulative_sum, ScanOptions)

/// Returns `cumprod` as in the array API. Throws ValueError without an axis if there are several.
[[nodiscard]] DNDarray cumulative_prod(const DNDarray& x, const ScanOptions& options = {});
HEATPP_ALONG_AXIS(DNDarray, cumulative_prod, ScanOptions)

// These functions write the result to `x`. They throw TypeError if the results are of another kind.

/// Replaces x by its running sum along an axis.
DNDarray& cumsum_(DNDarray& x, int axis);
DNDarray cumsum_(Selection&& x, int axis);

/// Replaces x by its running product along an axis.
DNDarray& cumprod_(DNDarray& x, int axis);
DNDarray cumprod_(Selection&& x, int axis);
/// Another name of `cumprod_`.
inline DNDarray& cumproduct_(DNDarray& x, int axis) { return cumprod_(x, axis); }
inline DNDarray cumproduct_(Selection&& x, int axis) { return cumprod_(std::move(x), axis); }

}  // namespace heatpp
