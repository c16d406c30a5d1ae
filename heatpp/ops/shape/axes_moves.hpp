#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp {

/// The axes in another order: axis i of the result is axes[i] of `x`; by default the reverse order. The split goes with
/// its axis. Local, sharing memory. Throws IndexError, ValueError where `axes` is not a permutation.
[[nodiscard]] DNDarray transpose(const DNDarray& x, const std::vector<int>& axes = {});
[[nodiscard]] inline DNDarray permute_dims(const DNDarray& x, const std::vector<int>& axes) {
  return transpose(x, axes);
}
/// The last two axes exchanged. Throws ValueError for fewer.
[[nodiscard]] DNDarray matrix_transpose(const DNDarray& x);
/// The axes `a` and `b` exchanged.
[[nodiscard]] DNDarray swapaxes(const DNDarray& x, int a, int b);
/// Axes `from` moved to the places `to`, the others in their order.
[[nodiscard]] DNDarray moveaxis(const DNDarray& x, const std::vector<int>& from, const std::vector<int>& to);
[[nodiscard]] inline DNDarray moveaxis(const DNDarray& x, int from, int to) {
  return moveaxis(x, std::vector<int>{from}, std::vector<int>{to});
}
/// `axis` moved before the axis that is at `start`.
[[nodiscard]] DNDarray rollaxis(const DNDarray& x, int axis, int start = 0);

/// New axes of extent 1 at these places of the result. Local, sharing memory.
[[nodiscard]] DNDarray expand_dims(const DNDarray& x, const Axes& axis);
/// Without the given axes, or without all, of extent 1. Local, sharing memory, but where the split axis goes away its
/// owner broadcasts the array; axis 0 of an array without axes is taken for one. Throws ValueError for an axis of
/// another extent.
[[nodiscard]] DNDarray squeeze(const DNDarray& x, const Axes& axis = std::nullopt);
/// With axes of extent 1 where there are fewer than 1, 2 or 3: in front, and for 3 also behind, as NumPy.
[[nodiscard]] DNDarray atleast_1d(const DNDarray& x);
[[nodiscard]] DNDarray atleast_2d(const DNDarray& x);
[[nodiscard]] DNDarray atleast_3d(const DNDarray& x);

/// `x` stretched to a shape without copying elements: they repeat in memory until the result is written to. A split
/// axis that is stretched is cut evenly, for which all ranks get the array; otherwise local. Throws ValueError for
/// another shape.
[[nodiscard]] DNDarray broadcast_to(const DNDarray& x, const Shape& shape);
/// All stretched to their common shape.
[[nodiscard]] const std::vector<DNDarray> broadcast_arrays(const std::vector<DNDarray>& arrays);

/// Back to front along the given axes, or all. Along the split axis rank r gets what rank P-1-r had, in one exchange;
/// along others local.
[[nodiscard]] DNDarray flip(const DNDarray& x, const Axes& axis = std::nullopt);
/// flip along axis 0 and 1. Throws ValueError for fewer axes than that takes, as rot90 does.
[[nodiscard]] DNDarray flipud(const DNDarray& x);
[[nodiscard]] DNDarray fliplr(const DNDarray& x);
/// Turned `k` times by 90 degrees from the first of two axes to the second.
[[nodiscard]] DNDarray rot90(const DNDarray& x, int k = 1, const std::pair<int, int>& axes = {0, 1});

}  // namespace heatpp
