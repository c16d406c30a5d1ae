#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// Cuts `x` into parts along `axis`: equal ones, or at the given indices. The parts share memory and keep the cut, so
/// parts of a split axis may lie on few ranks (`balance` spreads them). Local. Throws ValueError if the extent cannot
/// be cut into equal parts.
[[nodiscard]] const std::vector<DNDarray> split(const DNDarray& x, std::int64_t parts, int axis = 0);
[[nodiscard]] const std::vector<DNDarray> split(const DNDarray& x, const std::vector<std::int64_t>& indices,
                                                int axis = 0);
/// Cuts as `split`; the first parts are longer by one if they cannot be equal.
[[nodiscard]] const std::vector<DNDarray> array_split(const DNDarray& x, std::int64_t parts, int axis = 0);
/// Split along axis 1 (vectors: 0), 0 and 2. They throw ValueError as split, and for fewer than 1, 2 and 3 axes.
[[nodiscard]] const std::vector<DNDarray> hsplit(const DNDarray& x, std::int64_t parts);
[[nodiscard]] const std::vector<DNDarray> hsplit(const DNDarray& x, const std::vector<std::int64_t>& indices);
[[nodiscard]] const std::vector<DNDarray> vsplit(const DNDarray& x, std::int64_t parts);
[[nodiscard]] const std::vector<DNDarray> vsplit(const DNDarray& x, const std::vector<std::int64_t>& indices);
[[nodiscard]] const std::vector<DNDarray> dsplit(const DNDarray& x, std::int64_t parts);
[[nodiscard]] const std::vector<DNDarray> dsplit(const DNDarray& x, const std::vector<std::int64_t>& indices);
[[nodiscard]] inline const std::vector<DNDarray> array_split(const DNDarray& x,
                                                             const std::vector<std::int64_t>& indices, int axis = 0) {
  return split(x, indices, axis);
}
// Braces hold indices, also around one number.
// clang-format off
[[nodiscard]] inline const std::vector<DNDarray> split(const DNDarray& x, std::initializer_list<std::int64_t> indices, int axis = 0) { return split(x, std::vector(indices), axis); }
[[nodiscard]] inline const std::vector<DNDarray> array_split(const DNDarray& x, std::initializer_list<std::int64_t> indices, int axis = 0) { return split(x, std::vector(indices), axis); }
[[nodiscard]] inline const std::vector<DNDarray> hsplit(const DNDarray& x, std::initializer_list<std::int64_t> indices) { return hsplit(x, std::vector(indices)); }
[[nodiscard]] inline const std::vector<DNDarray> vsplit(const DNDarray& x, std::initializer_list<std::int64_t> indices) { return vsplit(x, std::vector(indices)); }
[[nodiscard]] inline const std::vector<DNDarray> dsplit(const DNDarray& x, std::initializer_list<std::int64_t> indices) { return dsplit(x, std::vector(indices)); }
// clang-format on

/// Returns one array for each index of `axis`, without that axis. Along the split axis its owner broadcasts each.
[[nodiscard]] const std::vector<DNDarray> unstack(const DNDarray& x, int axis = 0);
/// Returns all windows of `size` indices along `axis`, `step` apart, in a new last axis; `axis` counts the windows.
/// Along the split axis each rank fetches the elements of its windows; otherwise local. Throws ValueError for a size or
/// step that does not fit.
[[nodiscard]] DNDarray unfold(const DNDarray& x, int axis, std::int64_t size, std::int64_t step = 1);

}  // namespace heatpp
