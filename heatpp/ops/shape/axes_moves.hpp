#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp {

/// Reorders the axes: axis i of the result is axes[i] of `x`; by default reversed. The split goes with its axis. Local,
/// sharing memory. Throws IndexError, and ValueError if `axes` is no permutation.
[[nodiscard]] DNDarray transpose(const DNDarray& x, const std::vector<int>& axes = {});
[[nodiscard]] inline DNDarray permute_dims(const DNDarray& x, const std::vector<int>& axes) {
  return transpose(x, axes);
}
/// Exchanges the last two axes. Throws ValueError for fewer.
[[nodiscard]] DNDarray matrix_transpose(const DNDarray& x);
/// Exchanges the axes `a` and `b`.
[[nodiscard]] DNDarray swapaxes(const DNDarray& x, int a, int b);
/// Moves axes `from` to the places `to`; the others keep their order.
[[nodiscard]] DNDarray moveaxis(const DNDarray& x, const std::vector<int>& from, const std::vector<int>& to);
[[nodiscard]] inline DNDarray moveaxis(const DNDarray& x, int from, int to) {
  return moveaxis(x, std::vector<int>{from}, std::vector<int>{to});
}
/// Moves `axis` before the axis at `start`.
[[nodiscard]] DNDarray rollaxis(const DNDarray& x, int axis, int start = 0);

/// Adds axes of extent 1 at these places of the result. Local, sharing memory.
[[nodiscard]] DNDarray expand_dims(const DNDarray& x, const Axes& axis);
/// Removes the given axes of extent 1, or all such axes. Local, sharing memory, but if the split axis is removed its
/// owner broadcasts the array. axis 0 of an array without axes is accepted. Throws ValueError for an axis of another
/// extent.
[[nodiscard]] DNDarray squeeze(const DNDarray& x, const Axes& axis = std::nullopt);
/// These add axes of extent 1 up to 1, 2 or 3 axes: in front, and for 3 also behind, as NumPy.
[[nodiscard]] DNDarray atleast_1d(const DNDarray& x);
[[nodiscard]] DNDarray atleast_2d(const DNDarray& x);
[[nodiscard]] DNDarray atleast_3d(const DNDarray& x);

/// Stretches `x` to a shape without copying elements: they repeat in memory until the result is written to. A split
/// axis that is stretched is cut evenly, and all ranks get the array; otherwise local. Throws ValueError for another
/// shape.
[[nodiscard]] DNDarray broadcast_to(const DNDarray& x, const Shape& shape);
/// Stretches all arrays to their common shape.
[[nodiscard]] const std::vector<DNDarray> broadcast_arrays(const std::vector<DNDarray>& arrays);

/// Reverses the given axes, or all. Along the split axis rank r gets the elements of rank P-1-r, in one exchange; along
/// others local.
[[nodiscard]] DNDarray flip(const DNDarray& x, const Axes& axis = std::nullopt);
/// Do flip along axis 0 and 1. They throw ValueError for fewer axes, as rot90 does.
[[nodiscard]] DNDarray flipud(const DNDarray& x);
[[nodiscard]] DNDarray fliplr(const DNDarray& x);
/// Turns `x` `k` times by 90 degrees from the first of two axes to the second.
[[nodiscard]] DNDarray rot90(const DNDarray& x, int k = 1, const std::pair<int, int>& axes = {0, 1});

}  // namespace heatpp
