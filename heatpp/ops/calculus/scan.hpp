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

/// Declares the functions of scan.inc: running sums and products along `axis`, in the layout of `x`. Whole numbers and
/// bool give int64. Along the split axis: a local scan and one exscan of a slice; along others: local. With
/// `include_initial` the result is cut as by `concatenate`. The order decides which products with infinite complex
/// numbers are NaN, so this may differ from NumPy. Throws IndexError for an axis out of range.
#define HEATPP_SCAN(name, doc)                                                     \
  [[nodiscard]] DNDarray name(const DNDarray& x, const ScanOptions& options = {}); \
  HEATPP_ALONG_AXIS(DNDarray, name, ScanOptions)
#define HEATPP_SCAN_ALIAS(alias, name)                                                                                 \
  [[nodiscard]] inline DNDarray alias(const DNDarray& x, const ScanOptions& options = {}) { return name(x, options); } \
  HEATPP_ALONG_AXIS(DNDarray, alias, ScanOptions)
#include <heatpp/ops/calculus/scan.inc>
#undef HEATPP_SCAN
#undef HEATPP_SCAN_ALIAS

/// These are cumsum and cumprod of the array API. They throw ValueError without an axis if there are several.
[[nodiscard]] DNDarray cumulative_sum(const DNDarray& x, const ScanOptions& options = {});
[[nodiscard]] DNDarray cumulative_prod(const DNDarray& x, const ScanOptions& options = {});
HEATPP_ALONG_AXIS(DNDarray, cumulative_sum, ScanOptions)
HEATPP_ALONG_AXIS(DNDarray, cumulative_prod, ScanOptions)

/// These write the result to `x`. They throw TypeError if the sums are of another kind.
DNDarray& cumsum_(DNDarray& x, int axis);
DNDarray cumsum_(Selection&& x, int axis);
DNDarray& cumprod_(DNDarray& x, int axis);
DNDarray cumprod_(Selection&& x, int axis);
inline DNDarray& cumproduct_(DNDarray& x, int axis) { return cumprod_(x, axis); }
inline DNDarray cumproduct_(Selection&& x, int axis) { return cumprod_(std::move(x), axis); }

}  // namespace heatpp
