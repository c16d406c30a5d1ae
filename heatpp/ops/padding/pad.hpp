#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// The elements around a padded array: a value, the nearest element, the array mirrored at its last element or behind
/// it, its other end, uninitialized memory, numbers that go evenly from the nearest element to a value, or a statistic
/// of the array along the axis.
enum class PadMode { constant, edge, reflect, symmetric, wrap, empty, linear_ramp, maximum, mean, median, minimum };
struct PadOptions {
  PadMode mode = PadMode::constant;
  Scalar value = 0;                                        ///< for the modes constant and linear_ramp
  std::optional<std::int64_t> stat_length = std::nullopt;  ///< length of a statistic from the end; nullopt: all indices
  std::vector<std::pair<Scalar, Scalar>> values = {};  ///< before and after each axis, or all axes, instead of `value`
  std::vector<std::pair<std::int64_t, std::int64_t>> stat_lengths = {};  ///< these replace `stat_length`
  bool odd = false;  ///< for reflect and symmetric: mirrored at the last element as at a point, so that slopes continue
};
using PadWidths = std::vector<std::pair<std::int64_t, std::int64_t>>;
/// Adds indices before and after each axis of `x`; one pair serves for all axes. Along the split axis the blocks of the
/// first and the last rank grow; only the elements repeated there move, and what a statistic communicates. Throws
/// ValueError for negative widths, options that the mode does not use, an empty axis to repeat or compare, and a value
/// out of the range of an array of whole numbers, except that whole values wrap in uint8. Means and medians of no
/// floating numbers are NaN.
[[nodiscard]] DNDarray pad(const DNDarray& x, const PadWidths& widths, const PadOptions& options = {});
/// Adds `width` indices before and after each axis.
[[nodiscard]] DNDarray pad(const DNDarray& x, std::int64_t width, const PadOptions& options = {});

}  // namespace heatpp
