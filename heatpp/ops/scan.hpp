#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// The running sum and product along `axis`, in the layout of `x`; whole numbers and bool give int64. Along the split
/// axis: a local scan and one exscan of a slice; along others: local. Throws IndexError for an axis out of range.
[[nodiscard]] DNDarray cumsum(const DNDarray& x, int axis);
[[nodiscard]] DNDarray cumprod(const DNDarray& x, int axis);

}  // namespace heatpp
