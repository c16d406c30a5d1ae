#pragma once

#include <heatpp/core/layout.hpp>

namespace heatpp::detail {

/// Whether an axis is cut: that of the split, or one that a grid has over several ranks.
[[nodiscard]] inline bool cuts_along(const Layout& layout, int axis) {
  return layout.is_grid() ? layout.cut_along(axis).ranks() > 1 : layout.split() == axis;
}

/// Returns the layout of the result if an array with this layout is stretched to `shape` and does not move. An axis
/// that is cut and stretched is cut evenly over its ranks, each of which then needs all of it.
[[nodiscard]] inline Layout stretched(const Layout& layout, const Shape& shape) {
  const auto before = static_cast<int>(shape.size()) - layout.ndim();
  auto extents = shape;
  std::copy(layout.shape().begin(), layout.shape().end(), extents.begin() + before);
  std::vector<int> axes;
  for (int axis = -before; axis < layout.ndim(); ++axis) axes.push_back(std::max(axis, -1));
  const auto lying = layout.along(std::move(extents), axes);
  std::vector<Cut> cuts;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    auto cut = lying.cut_along(static_cast<int>(axis));
    cuts.push_back(cut.extent() == shape[axis] ? std::move(cut) : Cut::even(shape[axis], cut.ranks()));
  }
  return lying.recut(shape, std::move(cuts));
}

/// Returns how an operand of `shape` must lie to meet the blocks of a result, to which it is broadcast.
[[nodiscard]] inline Layout to_meet(const Layout& result, const Shape& shape) {
  const auto before = result.ndim() - static_cast<int>(shape.size());
  std::vector<int> axes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const auto place = static_cast<int>(axis) + before;
    axes.push_back(shape[axis] == result.shape()[static_cast<std::size_t>(place)] ? place : -1);
  }
  return result.along(shape, axes);
}

/// Returns the layout with another cut of one axis, whose extent becomes that of the cut.
[[nodiscard]] inline Layout with_cut(const Layout& layout, int axis, const Cut& cut) {
  auto shape = layout.shape();
  shape[static_cast<std::size_t>(axis)] = cut.extent();
  std::vector<Cut> cuts;
  for (int other = 0; other < layout.ndim(); ++other) cuts.push_back(other == axis ? cut : layout.cut_along(other));
  return layout.recut(std::move(shape), std::move(cuts));
}

}  // namespace heatpp::detail
