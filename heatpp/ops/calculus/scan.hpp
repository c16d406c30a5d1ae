#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp {

/// Options of cumsum, cumprod and their like.
struct ScanOptions {
  std::optional<int> axis = std::nullopt;     ///< nullopt: of the flattened array
  std::optional<Dtype> dtype = std::nullopt;  ///< to which elements are converted first, and of the result
  bool include_initial = false;               ///< the sum or product of nothing in front, along an axis one longer
};

/// The functions of scan.inc: running sums and products along `axis`, in the layout of `x`. Whole numbers and bool give
/// int64. Along the split axis: a local scan and one exscan of a slice; along others: local. With `include_initial` the
/// result is cut as that of `concatenate`. Which products with infinite complex numbers are NaN depends on their order,
/// and may differ from NumPy's. Throws IndexError for an axis out of range.
#define HEATPP_SCAN(name, doc)                                                     \
  [[nodiscard]] DNDarray name(const DNDarray& x, const ScanOptions& options = {}); \
  HEATPP_ALONG_AXIS(DNDarray, name, ScanOptions)
#define HEATPP_SCAN_ALIAS(alias, name)                                                                                 \
  [[nodiscard]] inline DNDarray alias(const DNDarray& x, const ScanOptions& options = {}) { return name(x, options); } \
  HEATPP_ALONG_AXIS(DNDarray, alias, ScanOptions)
#include <heatpp/ops/calculus/scan.inc>
#undef HEATPP_SCAN
#undef HEATPP_SCAN_ALIAS

/// cumsum and cumprod as the array API has them: they throw ValueError for more than one axis where none is given.
[[nodiscard]] DNDarray cumulative_sum(const DNDarray& x, const ScanOptions& options = {});
[[nodiscard]] DNDarray cumulative_prod(const DNDarray& x, const ScanOptions& options = {});
HEATPP_ALONG_AXIS(DNDarray, cumulative_sum, ScanOptions)
HEATPP_ALONG_AXIS(DNDarray, cumulative_prod, ScanOptions)

/// Written over `x`. Throws TypeError where the sums are of another kind.
DNDarray& cumsum_(DNDarray& x, int axis);
DNDarray cumsum_(Selection&& x, int axis);
DNDarray& cumprod_(DNDarray& x, int axis);
DNDarray cumprod_(Selection&& x, int axis);
inline DNDarray& cumproduct_(DNDarray& x, int axis) { return cumprod_(x, axis); }
inline DNDarray cumproduct_(Selection&& x, int axis) { return cumprod_(std::move(x), axis); }

}  // namespace heatpp
