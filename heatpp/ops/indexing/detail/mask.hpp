#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// Returns the elements of x where `mask`, over the axes from `axis` on, is true, in a new axis instead of these. If x
/// is split along one of these it is cut along the first, so the parts lie in C order. Communicates only the counts. On
/// a grid the cuts of the other axes stay, and only what the mask keeps moves: nothing if it is over one axis.
[[nodiscard]] DNDarray take_mask(const char* op, const DNDarray& x, int axis, const DNDarray& mask);

/// Writes the value to what take_mask reads, if the value is cut in that way and each rank has what it needs. Returns
/// whether it did. For a mask along the split only the counts are communicated.
[[nodiscard]] bool put_mask(const char* op, const DNDarray& x, int axis, const DNDarray& mask, const DNDarray& value);

/// Throws IndexError unless `mask` has bool elements and x's extents from `axis` on.
void check_mask(const char* op, const DNDarray& x, int axis, const DNDarray& mask);

}  // namespace heatpp::detail
