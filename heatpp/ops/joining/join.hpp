#pragma once

#include <concepts>
#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/slice.hpp>
#include <heatpp/ops/operands/axes.hpp>
#include <heatpp/ops/operands/operand.hpp>

namespace heatpp::detail {

/// Returns the indices of a slice along `axis`, or in the flattened array.
[[nodiscard]] std::vector<std::int64_t> positions_in(const Slice& slice, const DNDarray& x, std::optional<int> axis);

}  // namespace heatpp::detail

namespace heatpp {

using Arrays = std::vector<DNDarray>;

/// Joins the arrays along `axis`, in their common dtype. If they are split along another axis, the first one's cut
/// stays and others move to it. If they are split along `axis`, the result is cut evenly, and one exchange moves each
/// element at most once. For nullopt the flattened arrays are joined. Throws ValueError if other extents differ,
/// IndexError.
[[nodiscard]] DNDarray concatenate(const Arrays& arrays, std::optional<int> axis = 0);
[[nodiscard]] inline DNDarray concat(const Arrays& arrays, std::optional<int> axis = 0) {
  return concatenate(arrays, axis);
}
/// Joins arrays of one shape along a new axis. Communicates as concatenate.
[[nodiscard]] DNDarray stack(const Arrays& arrays, int axis = 0);
/// Concatenate along axis 1 (vectors: 0), 0, and 2, after atleast_1d, atleast_2d and atleast_3d.
[[nodiscard]] DNDarray hstack(const Arrays& arrays);
[[nodiscard]] DNDarray vstack(const Arrays& arrays);
[[nodiscard]] DNDarray dstack(const Arrays& arrays);
[[nodiscard]] inline DNDarray row_stack(const Arrays& arrays) { return vstack(arrays); }
/// Joins vectors as columns to matrices.
[[nodiscard]] DNDarray column_stack(const Arrays& arrays);
/// Arrays and numbers in nested braces, for `block`.
class Blocks {
 public:
  template <std::convertible_to<KeptOperand> T>
  Blocks(const T& array) : array_(KeptOperand(array)) {}                                 // NOLINT: conversion intended
  Blocks(std::initializer_list<Blocks> parts) : parts_(parts) {}                         // NOLINT: conversion intended
  Blocks(const std::vector<DNDarray>& arrays) : parts_(arrays.begin(), arrays.end()) {}  // NOLINT: conversion intended
  Blocks(const std::vector<Arrays>& rows) : parts_(rows.begin(), rows.end()) {}          // NOLINT: conversion intended

  /// Returns the array or number; nullopt if there are parts.
  [[nodiscard]] const std::optional<KeptOperand>& array() const { return array_; }
  [[nodiscard]] const std::vector<Blocks>& parts() const { return parts_; }

 private:
  std::optional<KeptOperand> array_;
  std::vector<Blocks> parts_;
};
/// Joins blocks: those in the innermost braces along the last axis, those around them along the one before, and so on.
/// Communicates as concatenate. Braces around a single array change nothing. Throws ValueError for braces of different
/// depth and if there is no array.
[[nodiscard]] DNDarray block(const Blocks& blocks);
/// Puts `values` behind `x`; flattens both for nullopt.
[[nodiscard]] DNDarray append(const DNDarray& x, const DNDarray& values, std::optional<int> axis = std::nullopt);
/// Inserts `values` before `position` along `axis`, in the flattened array for nullopt. If `values` has as many axes as
/// `x`, its first axis is `axis`. The result has the dtype of `x`. Communicates as concatenate. Throws IndexError for
/// positions out of range, TypeError for complex values in a real array, ValueError for values that do not broadcast.
[[nodiscard]] DNDarray insert(const DNDarray& x, std::int64_t position, const Operand& values,
                              std::optional<int> axis = std::nullopt);
/// Inserts one index of `values`, or the only one, before each of `positions`, which count indices of `x`. Before a
/// single position it inserts all of `values` along `axis`.
[[nodiscard]] DNDarray insert(const DNDarray& x, const std::vector<std::int64_t>& positions, const Operand& values,
                              std::optional<int> axis = std::nullopt);
[[nodiscard]] inline DNDarray insert(const DNDarray& x, std::initializer_list<std::int64_t> positions,
                                     const Operand& values, std::optional<int> axis = std::nullopt) {
  return insert(x, std::vector(positions), values, axis);  // braces hold a list, also around one number
}
/// Inserts at positions in an array, or where a mask is true, which all ranks get. Throws IndexError for positions that
/// are not whole numbers, ValueError for more than one axis and for masks without axes.
[[nodiscard]] DNDarray insert(const DNDarray& x, const DNDarray& positions, const Operand& values,
                              std::optional<int> axis = std::nullopt);
/// Removes the indices at `positions` along `axis`, in the flattened array for nullopt. An array split there becomes
/// uneven; nothing moves.
[[nodiscard]] DNDarray delete_(const DNDarray& x, const std::vector<std::int64_t>& positions,
                               std::optional<int> axis = std::nullopt);
[[nodiscard]] inline DNDarray delete_(const DNDarray& x, std::int64_t position,
                                      std::optional<int> axis = std::nullopt) {
  return delete_(x, std::vector{position}, axis);
}
/// Removes the indices where a vector of bool is true, or at positions. Throws ValueError for other masks.
[[nodiscard]] DNDarray delete_(const DNDarray& x, const DNDarray& indices, std::optional<int> axis = std::nullopt);
/// Removes the indices of a slice: `delete_(x, ht::slice(1, 9, 2), 0)`.
template <std::same_as<Slice> S>
[[nodiscard]] DNDarray delete_(const DNDarray& x, const S& slice, std::optional<int> axis = std::nullopt) {
  return delete_(x, detail::positions_in(slice, x, axis), axis);
}
/// Inserts `values` before the indices of a slice.
template <std::same_as<Slice> S>
[[nodiscard]] DNDarray insert(const DNDarray& x, const S& slice, const Operand& values,
                              std::optional<int> axis = std::nullopt) {
  return insert(x, detail::positions_in(slice, x, axis), values, axis);
}

/// Shifts by `shift` along one axis or several; elements that leave one end enter at the other, and the layout stays.
/// For nullopt it shifts the flattened array, in the layout of `reshape`. Along the split: one exchange of the elements
/// that change ranks.
[[nodiscard]] DNDarray roll(const DNDarray& x, std::int64_t shift, const Axes& axis = std::nullopt);
/// Shifts by one number for each axis; shifts of one axis, or of the only one, add up.
[[nodiscard]] DNDarray roll(const DNDarray& x, const std::vector<std::int64_t>& shifts,
                            const Axes& axis = std::nullopt);

}  // namespace heatpp
