#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// The running sum and product along `axis`, in the layout of `x`; nullopt: of the flattened array. Whole numbers and
/// bool give int64. Along the split axis: a local scan and one exscan of a slice; along others: local. Throws
/// IndexError for an axis out of range.
[[nodiscard]] DNDarray cumsum(const DNDarray& x, std::optional<int> axis = std::nullopt);
[[nodiscard]] DNDarray cumprod(const DNDarray& x, std::optional<int> axis = std::nullopt);
/// The same with 0 and 1 in the place of NaN.
[[nodiscard]] DNDarray nancumsum(const DNDarray& x, std::optional<int> axis = std::nullopt);
[[nodiscard]] DNDarray nancumprod(const DNDarray& x, std::optional<int> axis = std::nullopt);

/// Written over `x`. Throws TypeError where the sums are of another kind.
const DNDarray& cumsum_(const DNDarray& x, int axis);
const DNDarray& cumprod_(const DNDarray& x, int axis);
inline const DNDarray& cumproduct_(const DNDarray& x, int axis) { return cumprod_(x, axis); }

/// Other names of cumsum and cumprod.
[[nodiscard]] inline DNDarray cumulative_sum(const DNDarray& x, std::optional<int> axis = std::nullopt) {
  return cumsum(x, axis);
}
[[nodiscard]] inline DNDarray cumulative_prod(const DNDarray& x, std::optional<int> axis = std::nullopt) {
  return cumprod(x, axis);
}
[[nodiscard]] inline DNDarray cumproduct(const DNDarray& x, std::optional<int> axis = std::nullopt) {
  return cumprod(x, axis);
}

}  // namespace heatpp
