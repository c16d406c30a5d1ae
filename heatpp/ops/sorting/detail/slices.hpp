#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// Returns the distinct slices of `x` along `axis` in order, split along it unless x is replicated. Sample sort by
/// regular sampling (Shi & Schaeffer 1992) of slices as strings of bytes: an allgather of ranks^2 slices, one exchange.
[[nodiscard]] DNDarray unique_slices(const DNDarray& x, int axis);

/// The distinct slices with the first index of each along the axis, its count, and the place of each slice of `x` among
/// them (int64). Every slice travels, with its index, and its place back.
struct SliceGroups {
  DNDarray values, indices, inverse, counts;
};
[[nodiscard]] SliceGroups group_slices(const DNDarray& x, int axis);

}  // namespace heatpp::detail
