#pragma once

#include <concepts>
#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/slice.hpp>
#include <heatpp/ops/operands/axes.hpp>
#include <heatpp/ops/operands/operand.hpp>

namespace heatpp::detail {

/// The indices along `axis`, or in the flattened array, that a slice stands for.
[[nodiscard]] std::vector<std::int64_t> positions_in(const Slice& slice, const DNDarray& x, std::optional<int> axis);

}  // namespace heatpp::detail

namespace heatpp {

using Arrays = std::vector<DNDarray>;

/// The arrays one behind another along `axis`, in their common dtype. Where they are split along another axis the first
/// one's cut stays, and others move to it; where they are split along `axis` itself the result is cut evenly, and one
/// exchange moves each element at most once. Throws ValueError for other extents that differ, IndexError.
/// For nullopt the flattened arrays are joined.
[[nodiscard]] DNDarray concatenate(const Arrays& arrays, std::optional<int> axis = 0);
[[nodiscard]] inline DNDarray concat(const Arrays& arrays, std::optional<int> axis = 0) {
  return concatenate(arrays, axis);
}
/// Arrays of one shape along a new axis, communicating as concatenate.
[[nodiscard]] DNDarray stack(const Arrays& arrays, int axis = 0);
/// concatenate along axis 1 (of vectors 0), 0, and 2, after atleast_1d, atleast_2d and atleast_3d.
[[nodiscard]] DNDarray hstack(const Arrays& arrays);
[[nodiscard]] DNDarray vstack(const Arrays& arrays);
[[nodiscard]] DNDarray dstack(const Arrays& arrays);
[[nodiscard]] inline DNDarray row_stack(const Arrays& arrays) { return vstack(arrays); }
/// Vectors as columns beside matrices.
[[nodiscard]] DNDarray column_stack(const Arrays& arrays);
/// Arrays and numbers in nested braces, as `block` takes them.
class Blocks {
 public:
  template <std::convertible_to<KeptOperand> T>
  Blocks(const T& array) : array_(KeptOperand(array)) {}                                 // NOLINT: conversion intended
  Blocks(std::initializer_list<Blocks> parts) : parts_(parts) {}                         // NOLINT: conversion intended
  Blocks(const std::vector<DNDarray>& arrays) : parts_(arrays.begin(), arrays.end()) {}  // NOLINT: conversion intended
  Blocks(const std::vector<Arrays>& rows) : parts_(rows.begin(), rows.end()) {}          // NOLINT: conversion intended

  /// The array or number; none where there are parts.
  [[nodiscard]] const std::optional<KeptOperand>& array() const { return array_; }
  [[nodiscard]] const std::vector<Blocks>& parts() const { return parts_; }

 private:
  std::optional<KeptOperand> array_;
  std::vector<Blocks> parts_;
};
/// An array of blocks: those in the innermost braces are joined along the last axis, those around them along the one
/// before, and so on, communicating as concatenate; braces around a single array change nothing. Throws ValueError for
/// braces of different depth and where there is no array.
[[nodiscard]] DNDarray block(const Blocks& blocks);
/// `values` behind `x`; both flattened for nullopt.
[[nodiscard]] DNDarray append(const DNDarray& x, const DNDarray& values, std::optional<int> axis = std::nullopt);
/// `values` before `position` along `axis`, of the flattened array for nullopt; the first axis of `values`, with as
/// many as `x`, is `axis`. In the dtype of `x`. Communicates as concatenate. Throws IndexError for positions out of
/// range, TypeError for complex values beside real ones, ValueError for values that do not broadcast to their places.
[[nodiscard]] DNDarray insert(const DNDarray& x, std::int64_t position, const Operand& values,
                              std::optional<int> axis = std::nullopt);
/// One index of `values`, or the only one, before each of `positions`, which count indices of `x`. Before a single one
/// all that `values` has along `axis`.
[[nodiscard]] DNDarray insert(const DNDarray& x, const std::vector<std::int64_t>& positions, const Operand& values,
                              std::optional<int> axis = std::nullopt);
[[nodiscard]] inline DNDarray insert(const DNDarray& x, std::initializer_list<std::int64_t> positions,
                                     const Operand& values, std::optional<int> axis = std::nullopt) {
  return insert(x, std::vector(positions), values, axis);  // braces hold a list, even around one number
}
/// The same for positions in an array, or where a mask is true, which all ranks get. Throws IndexError for positions
/// that are not whole numbers, ValueError for more than one axis, and masks without.
[[nodiscard]] DNDarray insert(const DNDarray& x, const DNDarray& positions, const Operand& values,
                              std::optional<int> axis = std::nullopt);
/// Without the indices at `positions` along `axis`, of the flattened array for nullopt. An array split there is left
/// uneven; nothing moves.
[[nodiscard]] DNDarray delete_(const DNDarray& x, const std::vector<std::int64_t>& positions,
                               std::optional<int> axis = std::nullopt);
[[nodiscard]] inline DNDarray delete_(const DNDarray& x, std::int64_t position,
                                      std::optional<int> axis = std::nullopt) {
  return delete_(x, std::vector{position}, axis);
}
/// Without the indices where a vector of bool is true, or at an array of positions. Throws ValueError for other masks.
[[nodiscard]] DNDarray delete_(const DNDarray& x, const DNDarray& indices, std::optional<int> axis = std::nullopt);
/// Without the indices of a slice: `delete_(x, ht::slice(1, 9, 2), 0)`.
template <std::same_as<Slice> S>
[[nodiscard]] DNDarray delete_(const DNDarray& x, const S& slice, std::optional<int> axis = std::nullopt) {
  return delete_(x, detail::positions_in(slice, x, axis), axis);
}
/// `values` before the indices of a slice.
template <std::same_as<Slice> S>
[[nodiscard]] DNDarray insert(const DNDarray& x, const S& slice, const Operand& values,
                              std::optional<int> axis = std::nullopt) {
  return insert(x, detail::positions_in(slice, x, axis), values, axis);
}

/// Shifted by `shift` along one axis or several, what leaves one end entering at the other; the layout stays. For
/// nullopt of the flattened array, in the layout that `reshape` gives. Along the split one exchange of what changes
/// ranks.
[[nodiscard]] DNDarray roll(const DNDarray& x, std::int64_t shift, const Axes& axis = std::nullopt);
/// The same by one shift for each axis; those of an axis, or of the only one, add up.
[[nodiscard]] DNDarray roll(const DNDarray& x, const std::vector<std::int64_t>& shifts,
                            const Axes& axis = std::nullopt);

}  // namespace heatpp
