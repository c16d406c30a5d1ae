#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// Elements of x where `mask`, over the axes from `axis` on, is true, along one new axis in their place. If x is split
/// there it is cut along the first of them, so that the ranks' parts lie in C order; only the counts are communicated.
[[nodiscard]] DNDarray take_mask(const char* op, const DNDarray& x, int axis, const DNDarray& mask);

/// Writes the value to what take_mask takes where it is cut as that, and all lies on the ranks that have it; says
/// whether. Of a mask along the split only the counts are communicated.
[[nodiscard]] bool put_mask(const char* op, const DNDarray& x, int axis, const DNDarray& mask, const DNDarray& value);

/// Throws IndexError where `mask` does not have bool elements and x's extents from `axis` on.
void check_mask(const char* op, const DNDarray& x, int axis, const DNDarray& mask);

}  // namespace heatpp::detail
