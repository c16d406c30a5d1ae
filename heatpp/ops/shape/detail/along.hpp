#pragma once

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/stretched.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/shape/reshape.hpp>

namespace heatpp::detail {

/// Returns the indices of one entry along `axis`. A transposition is free, and avoids a list of entries of a length
/// that is known only at run time.
[[nodiscard]] inline DNDarray along(const DNDarray& x, int axis, const Index& entry) {
  return axis == 0 ? x.index({entry}) : swapaxes(swapaxes(x, 0, axis).index({entry}), 0, axis);
}

/// Returns `x`, flattened if no axis is given, or if it has none and gets one, as in NumPy.
[[nodiscard]] inline DNDarray flat_without_axis(const DNDarray& x, std::optional<int> axis) {
  return axis && x.ndim() > 0 ? x : flatten(x);
}

/// Returns the array in one cut and its axis: without a given axis, the flattened array and its only one.
[[nodiscard]] inline std::pair<DNDarray, int> with_axis(const char* op, const DNDarray& x, std::optional<int> axis) {
  if (!axis) return {flatten(x), 0};
  const auto along_axis = sanitize_axis(*axis, x.ndim(), op);
  return {one_cut(op, x), along_axis};
}

/// Removes leading axes of extent 1 beyond `ndim`, which an assignment ignores.
[[nodiscard]] inline DNDarray without_leading_ones(DNDarray x, int ndim) {
  while (x.ndim() > ndim && x.shape().front() == 1) x = reshape(x, {x.shape().begin() + 1, x.shape().end()});
  return x;
}

[[nodiscard]] inline std::int64_t extent_of(const DNDarray& x, int axis) {
  return x.shape()[static_cast<std::size_t>(axis)];
}

/// Returns the layout with another extent along `axis`; if it is cut there, at f(offset) instead of each offset.
template <class F>
[[nodiscard]] Layout recut(const Layout& layout, int axis, std::int64_t extent, F f) {
  const auto cut = layout.cut_along(axis);
  if (cut.ranks() == 1) return with_cut(layout, axis, Cut::even(extent, 1));
  std::vector<std::int64_t> offsets;
  for (int place = 0; place <= cut.ranks(); ++place) offsets.push_back(f(cut.first(place)));
  return with_cut(layout, axis, Cut::at(std::move(offsets)));
}
/// Returns the layout cut evenly there.
[[nodiscard]] inline Layout with_extent(const Layout& layout, int axis, std::int64_t extent) {
  return with_cut(layout, axis, Cut::even(extent, layout.cut_along(axis).ranks()));
}

}  // namespace heatpp::detail
