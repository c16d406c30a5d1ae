#include <heatpp/ops/indexing/part.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/detail/checked_axes.hpp>
#include <heatpp/ops/shape/detail/along.hpp>
#include <heatpp/ops/shape/detail/basic_index.hpp>
#include <heatpp/ops/shape/reshape.hpp>

#include <algorithm>

namespace heatpp {
namespace {

using detail::extent_of;

std::vector<DNDarray> cut(const DNDarray& x, const std::vector<std::int64_t>& ends, int axis) {
  std::vector<DNDarray> parts;
  std::optional<std::int64_t> start = 0;
  for (const auto end : ends) {
    parts.push_back(detail::take_slice("split", x, axis, slice(start, end)));
    start = end;
  }
  return parts;
}

std::vector<DNDarray> cut_evenly(const char* op, const DNDarray& x, std::int64_t parts, int axis, bool exactly) {
  axis = sanitize_axis(axis, x.ndim(), op);
  const auto extent = extent_of(x, axis);
  if (parts < 1 || (exactly && extent % parts != 0))
    detail::raise<ValueError>(op, "got {} parts for axis {} of an array of shape {}; expected a number that {}", parts,
                              axis, to_string(x.shape()), exactly ? "divides its extent" : "is positive");
  std::vector<std::int64_t> ends;
  for (std::int64_t i = 1; i <= parts; ++i) ends.push_back(i * (extent / parts) + std::min(i, extent % parts));
  return cut(x, ends, axis);
}

}  // namespace

const std::vector<DNDarray> split(const DNDarray& x, std::int64_t parts, int axis) {
  return cut_evenly("split", x, parts, axis, true);
}
const std::vector<DNDarray> split(const DNDarray& x, const std::vector<std::int64_t>& indices, int axis) {
  axis = sanitize_axis(axis, x.ndim(), "split");
  auto ends = indices;
  ends.push_back(extent_of(x, axis));
  return cut(x, ends, axis);
}
const std::vector<DNDarray> array_split(const DNDarray& x, std::int64_t parts, int axis) {
  return cut_evenly("array_split", x, parts, axis, false);
}
const std::vector<DNDarray> hsplit(const DNDarray& x, std::int64_t parts) {
  detail::check_ndim("hsplit", x, 1);
  return cut_evenly("hsplit", x, parts, x.ndim() == 1 ? 0 : 1, true);
}
const std::vector<DNDarray> hsplit(const DNDarray& x, const std::vector<std::int64_t>& indices) {
  detail::check_ndim("hsplit", x, 1);
  return split(x, indices, x.ndim() == 1 ? 0 : 1);
}
const std::vector<DNDarray> vsplit(const DNDarray& x, std::int64_t parts) {
  detail::check_ndim("vsplit", x, 2);
  return cut_evenly("vsplit", x, parts, 0, true);
}
const std::vector<DNDarray> vsplit(const DNDarray& x, const std::vector<std::int64_t>& indices) {
  detail::check_ndim("vsplit", x, 2);
  return split(x, indices, 0);
}
const std::vector<DNDarray> dsplit(const DNDarray& x, std::int64_t parts) {
  detail::check_ndim("dsplit", x, 3);
  return cut_evenly("dsplit", x, parts, 2, true);
}
const std::vector<DNDarray> dsplit(const DNDarray& x, const std::vector<std::int64_t>& indices) {
  detail::check_ndim("dsplit", x, 3);
  return split(x, indices, 2);
}

const std::vector<DNDarray> unstack(const DNDarray& x, int axis) {
  axis = sanitize_axis(axis, x.ndim(), "unstack");
  std::vector<DNDarray> parts;
  for (std::int64_t i = 0; i < extent_of(x, axis); ++i) parts.push_back(detail::take_position("unstack", x, axis, i));
  return parts;
}

DNDarray unfold(const DNDarray& array, int axis, std::int64_t size, std::int64_t step) {
  const auto x = detail::one_cut("unfold", array);
  axis = sanitize_axis(axis, x.ndim(), "unfold");
  const auto extent = extent_of(x, axis);
  if (size < 1 || size > extent || step < 1)
    detail::raise<ValueError>("unfold",
                              "got windows of {} indices, {} apart, along axis {} of an array of shape {}; "
                              "expected 1 <= size <= {} and a step of at least 1",
                              size, step, axis, to_string(x.shape()), extent);
  const auto split = x.split() == axis ? std::optional(0) : std::nullopt;
  const auto starts = arange((extent - size) / step + 1, {.split = split, .comm = x.comm()}) * step;
  const auto windows = reshape(starts, {-1, 1}) + arange(size, {.comm = x.comm()});
  const auto taken = swapaxes(x, 0, axis).index({windows});  // axes: windows, size, ...
  return swapaxes(moveaxis(taken, 1, -1), 0, axis);
}

}  // namespace heatpp
