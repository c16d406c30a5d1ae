#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// What stands around a padded array: a value, the nearest element, the array mirrored at its last element or behind
/// it, its other end, whatever was in memory, numbers that go evenly from the nearest element to a value, or a
/// statistic of the array along the axis.
enum class PadMode { constant, edge, reflect, symmetric, wrap, empty, linear_ramp, maximum, mean, median, minimum };
struct PadOptions {
  PadMode mode = PadMode::constant;
  Scalar value = 0;                                        ///< of the modes constant and linear_ramp
  std::optional<std::int64_t> stat_length = std::nullopt;  ///< how many indices from the end a statistic is of; all
  std::vector<std::pair<Scalar, Scalar>> values = {};  ///< before and after each axis, or all, in the place of `value`
  std::vector<std::pair<std::int64_t, std::int64_t>> stat_lengths = {};  ///< likewise
  bool odd = false;  ///< reflect and symmetric: mirrored at the last element as at a point, so that slopes go on
};
using PadWidths = std::vector<std::pair<std::int64_t, std::int64_t>>;
/// `x` with before and after indices added along each axis; one pair for all axes if there is one. Along the split axis
/// the first rank's and the last one's blocks grow; nothing else moves than the elements that are repeated there, and
/// what a statistic communicates. Throws ValueError for negative widths, options that are not of the mode, where there
/// is nothing to repeat or to compare, and for a value out of the range of an array of whole numbers, but that whole
/// ones wrap in one of uint8; means and medians of no floating numbers are NaN.
[[nodiscard]] DNDarray pad(const DNDarray& x, const PadWidths& widths, const PadOptions& options = {});
/// With `width` indices before and after each axis.
[[nodiscard]] DNDarray pad(const DNDarray& x, std::int64_t width, const PadOptions& options = {});

}  // namespace heatpp
