#include <heatpp/ops/padding/pad.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/detail/joined.hpp>
#include <heatpp/ops/joining/detail/padded.hpp>
#include <heatpp/ops/operands/detail/axis_order.hpp>
#include <heatpp/ops/reductions/moments.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/detail/along.hpp>
#include <heatpp/ops/shape/reshape.hpp>
#include <heatpp/ops/statistics/order.hpp>

#include <algorithm>

namespace heatpp {
namespace {

using detail::along;
using detail::extent_of;
using detail::padded;
using Width = detail::PadWidth;

/// Returns the options of the part before or behind an axis.
PadOptions of_side(const PadOptions& options, int axis, bool front) {
  const auto chosen = [&](const auto& pairs) {
    const auto& pair = pairs[pairs.size() == 1 ? 0 : static_cast<std::size_t>(axis)];
    return front ? pair.first : pair.second;
  };
  auto result = options;
  if (!options.values.empty()) result.value = chosen(options.values);
  if (!options.stat_lengths.empty()) result.stat_length = chosen(options.stat_lengths);
  return result;
}

DNDarray pad_constant(const DNDarray& x, int axis, const Width& width, const Scalar& value) {
  std::vector<Width> widths(static_cast<std::size_t>(x.ndim()), {0, 0});
  widths[static_cast<std::size_t>(axis)] = width;
  return detail::padded_with(x, widths, value);
}

/// Returns the array's index for `i`, which may lie outside 0 .. n - 1.
std::int64_t source_of(std::int64_t i, std::int64_t n, PadMode mode) {
  const auto modulo = [](std::int64_t a, std::int64_t b) { return ((a % b) + b) % b; };
  if (mode == PadMode::edge) return std::clamp<std::int64_t>(i, 0, n - 1);
  if (mode == PadMode::wrap) return modulo(i, n);
  if (mode == PadMode::reflect && n == 1) return 0;
  const auto period = mode == PadMode::reflect ? 2 * n - 2 : 2 * n;
  const auto place = modulo(i, period);
  return place < n ? place : (mode == PadMode::reflect ? period : period - 1) - place;
}

DNDarray taken(const DNDarray& x, int axis, std::int64_t first, std::int64_t last, PadMode mode) {
  const Shape shape{last - first};
  auto positions = detail::block_or_error("pad", shape, [&] { return at::empty(shape, at::kLong); });
  auto* position = positions.data_ptr<std::int64_t>();
  for (auto i = first; i < last; ++i) *position++ = source_of(i, extent_of(x, axis), mode);
  return along(x, axis, detail::wrap(positions, x.layout().replicated(shape), x.comm()));
}

/// Mirrors as at a point: twice the last element less each one. As in NumPy, elements further out are mirrored at the
/// end of the last round, which matters for infinite elements.
DNDarray pad_oddly(const DNDarray& x, int axis, Width width, PadMode mode) {
  const std::int64_t edge = mode == PadMode::reflect ? 1 : 0, period = extent_of(x, axis) - edge;
  auto result = x;
  while (width != Width{0, 0}) {
    const auto n = extent_of(result, axis), most = (n - edge) / period * period;
    const Width now{std::min(width.first, most), std::min(width.second, most)};
    const auto part = [&](std::int64_t end, std::int64_t first, std::int64_t last) {
      return (2 * along(result, axis, slice(end, end + 1)) - taken(result, axis, first, last, mode)).astype(x.dtype());
    };
    const Arrays parts{part(0, -now.first, 0), result, part(n - 1, n, n + now.second)};
    result = detail::joined("pad", parts, axis, padded(result.layout(), axis, now));
    width = {width.first - now.first, width.second - now.second};
  }
  return result;
}

DNDarray pad_repeated(const DNDarray& x, int axis, const Width& width, const PadOptions& options) {
  const auto mode = options.mode;
  const auto n = extent_of(x, axis);
  if (n == 0)
    detail::raise<ValueError>("pad", "got axis {} of extent 0 to pad with its own elements; expected some", axis);
  const bool odd = options.odd && (mode == PadMode::reflect || mode == PadMode::symmetric) && n > 1;
  if (odd) return pad_oddly(x, axis, width, mode);
  const Arrays parts{taken(x, axis, -width.first, 0, mode), x, taken(x, axis, n, n + width.second, mode)};
  return detail::joined("pad", parts, axis, padded(x.layout(), axis, width));
}

/// Means of whole numbers are rounded; a mean of bool is true unless it is 0.
DNDarray statistic(const DNDarray& x, int axis, PadMode mode) {
  const ReduceOptions over{.axis = axis, .keepdims = true};
  if (mode == PadMode::maximum) return max(x, over);
  if (mode == PadMode::minimum) return min(x, over);
  const auto wide = is_whole(x.dtype()) ? x.astype(float64) : x;
  const auto found = mode == PadMode::mean ? mean(wide, over) : median(wide, {.axis = axis, .keepdims = true});
  return is_integral(x.dtype()) ? round(found).astype(x.dtype()) : found.astype(x.dtype());
}

/// Returns `count` indices from `value` to those of `edge`, which are not included, computed in float64.
DNDarray ramp(const DNDarray& edge, int axis, std::int64_t count, const Scalar& value) {
  Shape shape(static_cast<std::size_t>(edge.ndim() - axis), 1);
  shape.front() = count;
  const auto wide = edge.astype(promote_types(edge.dtype(), float64));
  const auto i = reshape(arange(count, {.dtype = float64, .device = edge.device(), .comm = edge.comm()}), shape);
  const auto numbers = value + (wide - value) / static_cast<double>(count) * i;
  return (is_integral(edge.dtype()) ? floor(numbers) : numbers).astype(edge.dtype());
}

/// Returns the part before the array, or behind it.
DNDarray beside(const DNDarray& x, int axis, bool front, std::int64_t count, const PadOptions& options) {
  const auto n = extent_of(x, axis);
  if (options.mode == PadMode::linear_ramp) {
    const auto numbers = ramp(along(x, axis, front ? slice(0, 1) : slice(n - 1, n)), axis, count, options.value);
    return front ? numbers : flip(numbers, axis);
  }
  const auto length = std::min(n, options.stat_length.value_or(n));
  const auto part = length == n ? x : along(x, axis, front ? slice(0, length) : slice(n - length, n));
  auto shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = count;
  return broadcast_to(statistic(part, axis, options.mode), shape);
}

/// Throws for statistics of no element. NumPy refuses extrema of none even if nothing is added.
void check_statistic(const DNDarray& x, int axis, const PadOptions& options) {
  if (options.mode <= PadMode::linear_ramp) return;
  const auto length = [&](bool front) { return of_side(options, axis, front).stat_length.value_or(1); };
  const auto shortest = std::min(length(true), length(false));
  // The mean of no elements is NaN, which whole numbers do not have.
  const bool allows_empty =
      (options.mode == PadMode::mean || options.mode == PadMode::median) && !is_integral(x.dtype());
  if (shortest < (allows_empty ? 0 : 1))
    detail::raise<ValueError>("pad",
                              "got axis {} of an array of shape {} and stat_length {}; expected at least one index",
                              axis, to_string(x.shape()), shortest);
}

DNDarray pad_computed(const DNDarray& x, int axis, const Width& width, const PadOptions& options) {
  const auto front = of_side(options, axis, true), back = of_side(options, axis, false);
  if (extent_of(x, axis) == 0)
    detail::raise<ValueError>("pad", "got axis {} of an array of shape {}; expected at least one index", axis,
                              to_string(x.shape()));
  const Arrays parts{beside(x, axis, true, width.first, front), x, beside(x, axis, false, width.second, back)};
  return detail::joined("pad", parts, axis, padded(x.layout(), axis, width));
}

/// As in NumPy, each mode takes only its own options.
void check_options(const PadOptions& options) {
  const auto mode = options.mode;
  const bool valued = !options.values.empty() || options.value.to<std::complex<double>>() != 0.0;
  const bool limited = options.stat_length || !options.stat_lengths.empty();
  const bool refused = (valued && mode != PadMode::constant && mode != PadMode::linear_ramp) ||
                       (limited && mode <= PadMode::linear_ramp) ||
                       (options.odd && mode != PadMode::reflect && mode != PadMode::symmetric);
  if (refused)
    detail::raise<ValueError>("pad",
                              "got {}; expected options of the mode: values of constant and linear_ramp, lengths of "
                              "maximum, mean, median and minimum, odd of reflect and symmetric",
                              options.odd ? "odd"
                              : limited   ? "lengths"
                                          : "values");
}

/// Whether an extent plus both widths stays in the range of its type.
bool fits(std::int64_t extent, const Width& width) {
  return width.first >= 0 && width.second >= 0 && !__builtin_add_overflow(extent, width.first, &extent) &&
         !__builtin_add_overflow(extent, width.second, &extent);
}

}  // namespace

DNDarray pad(const DNDarray& x, const PadWidths& widths, const PadOptions& options) {
  check_options(options);
  const bool one = widths.size() == 1;
  const auto longest = x.ndim() > 0 ? std::ranges::max(x.shape()) : 0;
  const bool valid = std::ranges::all_of(widths, [&](const auto& width) { return fits(longest, width); });
  if (!valid || (!one && static_cast<int>(widths.size()) != x.ndim()))
    detail::raise<ValueError>("pad",
                              "got {} widths{} for an array of shape {}; expected one or one for each axis, none "
                              "negative",
                              widths.size(), valid ? "" : " with negative or too large ones", to_string(x.shape()));
  const auto for_axes = [&](std::size_t n) { return n < 2 || static_cast<int>(n) == x.ndim(); };
  if (!for_axes(options.values.size()) || !for_axes(options.stat_lengths.size()))
    detail::raise<ValueError>("pad",
                              "got {} pairs of values and {} of lengths for an array of shape {}; expected one "
                              "or one for each axis",
                              options.values.size(), options.stat_lengths.size(), to_string(x.shape()));
  const bool by_value = options.mode == PadMode::constant || options.mode == PadMode::empty;
  const bool is_extremum = options.mode == PadMode::maximum || options.mode == PadMode::minimum;
  const auto all = one ? std::vector<Width>(static_cast<std::size_t>(x.ndim()), widths.front()) : widths;
  if (by_value && options.values.empty()) return detail::padded_with(x, all, options.value);
  auto result = x;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const auto& width = all[static_cast<std::size_t>(axis)];
    const bool nothing = width == Width{0, 0};
    if (!nothing || (is_extremum && x.size() > 0)) check_statistic(x, axis, options);
    if (nothing) continue;
    if (by_value) {
      result = pad_constant(result, axis, {width.first, 0}, of_side(options, axis, true).value);
      result = pad_constant(result, axis, {0, width.second}, of_side(options, axis, false).value);
    } else if (options.mode >= PadMode::linear_ramp) {
      result = pad_computed(result, axis, width, options);
    } else {
      result = pad_repeated(result, axis, width, options);
    }
  }
  return result.shape() == x.shape() ? copy(x) : result;
}

DNDarray pad(const DNDarray& x, std::int64_t width, const PadOptions& options) {
  return pad(x, PadWidths{{width, width}}, options);
}

}  // namespace heatpp
