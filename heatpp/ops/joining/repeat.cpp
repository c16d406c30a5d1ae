#include <heatpp/ops/joining/repeat.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/detail/cyclic.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/shape/detail/along.hpp>
#include <heatpp/ops/shape/reshape.hpp>

#include <algorithm>

namespace heatpp {
namespace {

using detail::extent_of;

/// Repeats `x` along an axis until it has `total` indices; cut evenly if it was cut there.
DNDarray over_and_over(const char* op, const DNDarray& x, std::int64_t total, int axis) {
  const auto once = detail::one_cut(op, x);
  return detail::cyclic(op, once, axis, 0, detail::with_extent(once.layout(), axis, total));
}

/// Returns the repeats of this rank's indices along an axis.
at::Tensor own_repeats(const DNDarray& x, const std::vector<std::int64_t>& repeats, int axis) {
  const auto first = x.layout().local_offset(x.comm().rank())[static_cast<std::size_t>(axis)];
  return at::tensor(repeats, at::kLong).narrow(0, first, x.larray().size(axis)).to(x.larray().device());
}

/// Returns where the copies of each index begin, and where the last ones end.
std::vector<std::int64_t> bounds_of(const std::vector<std::int64_t>& repeats) {
  std::vector<std::int64_t> bounds{0};
  for (const auto count : repeats) {
    std::int64_t end = 0;
    if (__builtin_add_overflow(bounds.back(), count, &end))
      detail::raise<ValueError>("repeat", "got repeats of which the first {} sum to more than 2^63; expected less",
                                bounds.size());
    bounds.push_back(end);
  }
  return bounds;
}

}  // namespace

DNDarray roll(const DNDarray& x, std::int64_t shift, const Axes& axis) { return roll(x, std::vector{shift}, axis); }

DNDarray roll(const DNDarray& x, const std::vector<std::int64_t>& shifts, const Axes& axis) {
  if (axis.all()) return reshape(roll(flatten(x), shifts, 0), x.shape());
  const auto& axes = axis.values();
  if (shifts.size() != axes.size() && shifts.size() != 1 && axes.size() != 1)
    detail::raise<ValueError>("roll", "got {} shifts for {} axes; expected one, or one for each axis", shifts.size(),
                              axes.size());
  std::vector<std::int64_t> total(x.shape().size(), 0);
  for (std::size_t i = 0; i < (shifts.size() == 1 ? axes.size() : shifts.size()); ++i) {
    const auto along_axis = sanitize_axis(axes[axes.size() == 1 ? 0 : i], x.ndim(), "roll");
    const auto extent = std::max<std::int64_t>(1, extent_of(x, along_axis));
    auto& sum = total[static_cast<std::size_t>(along_axis)];
    sum = (sum + shifts[shifts.size() == 1 ? 0 : i] % extent + extent) % extent;
  }
  auto result = detail::one_cut("roll", x);
  const auto layout = result.layout();
  for (int along_axis = 0; along_axis < x.ndim(); ++along_axis)
    if (const auto shift = total[static_cast<std::size_t>(along_axis)])
      result = detail::cyclic("roll", result, along_axis, extent_of(x, along_axis) - shift, layout);
  return std::ranges::all_of(total, [](auto shift) { return shift == 0; }) ? copy(x) : result;
}

DNDarray repeat(const DNDarray& x, std::int64_t repeats, std::optional<int> axis) {
  return repeat(x, std::vector{repeats}, axis);
}

DNDarray repeat(const DNDarray& array, const std::vector<std::int64_t>& given, std::optional<int> along_axis) {
  const auto x = detail::flat_without_axis(array, along_axis);
  const auto axis = sanitize_axis(along_axis.value_or(0), x.ndim(), "repeat");
  const auto extent = extent_of(x, axis);
  const bool alike = given.size() == 1;
  const bool valid = std::ranges::all_of(given, [](auto n) { return n >= 0; });
  if (!valid || (!alike && std::ssize(given) != extent))
    detail::raise<ValueError>("repeat",
                              "got {} repeats{} for axis {} of an array of shape {}; expected one for each index, "
                              "none negative",
                              given.size(), valid ? "" : " with negative ones", axis, to_string(x.shape()));
  const auto bounds = alike ? std::vector<std::int64_t>{} : bounds_of(given);
  const auto end_of = [&](std::int64_t i) { return alike ? i * given[0] : bounds[static_cast<std::size_t>(i)]; };
  const auto total = alike ? size_of({extent, given[0]}) : bounds.back();
  const auto layout = detail::recut(x.layout(), axis, total, end_of);
  auto block = detail::allocated("repeat", layout, x.larray().options(), x.comm(), [&] {
    return alike ? at::repeat_interleave(x.larray(), given[0], axis)
                 : at::repeat_interleave(x.larray(), own_repeats(x, given, axis), axis);
  });
  return detail::wrap(std::move(block), layout, x.comm());
}

DNDarray tile(const DNDarray& array, const std::vector<std::int64_t>& repeats) {
  auto x = array;
  while (x.ndim() < static_cast<int>(repeats.size())) x = expand_dims(x, 0);
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    const auto axis = x.ndim() - static_cast<int>(repeats.size() - i);
    if (repeats[i] < 0) detail::raise<ValueError>("tile", "got {} repeats; expected none negative", repeats[i]);
    if (repeats[i] == 1) continue;
    x = over_and_over("tile", x, size_of({extent_of(x, axis), repeats[i]}), axis);
  }
  return std::ranges::all_of(repeats, [](auto n) { return n == 1; }) ? copy(x) : x;
}

DNDarray resize(const DNDarray& x, const Shape& shape) {
  const auto elements = flatten(x);
  const auto total = size_of(shape);
  if (x.size() == 0 && total > 0) return zeros(shape, {.dtype = x.dtype(), .device = x.device(), .comm = x.comm()});
  return reshape(over_and_over("resize", elements, total, 0), shape);
}

}  // namespace heatpp
