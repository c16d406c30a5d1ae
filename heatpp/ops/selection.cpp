#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/detail/along.hpp>
#include <heatpp/ops/detail/basic_index.hpp>
#include <heatpp/ops/detail/positions.hpp>
#include <heatpp/ops/elementwise.hpp>
#include <heatpp/ops/nonzero.hpp>
#include <heatpp/ops/reduce.hpp>
#include <heatpp/ops/reshape.hpp>
#include <heatpp/ops/selection.hpp>

#include <algorithm>

namespace heatpp {
namespace {

using detail::extent_of;

/// Positions that together pick one element for each one of `positions`, which lie along `axis`: the others count.
detail::Positions along_axis(const char* op, const DNDarray& x, const DNDarray& positions, int axis) {
  if (positions.ndim() != x.ndim())
    detail::raise<ValueError>(op, "got positions of shape {} for an array of shape {}; expected as many axes",
                              to_string(positions.shape()), to_string(x.shape()));
  detail::Positions all;
  for (int other = 0; other < x.ndim(); ++other) {
    all.axes.push_back(other);
    Shape shape(x.shape().size(), 1);
    shape[static_cast<std::size_t>(other)] = extent_of(x, other);
    all.arrays.push_back(other == axis ? positions : reshape(arange(extent_of(x, other), {.comm = x.comm()}), shape));
  }
  return all;
}

/// Whether each rank holds what its positions along `axis` stand for.
bool lie_together(const DNDarray& x, const DNDarray& positions, int axis) {
  auto shape = x.shape();
  if (positions.ndim() != x.ndim() || x.split() == axis) return false;
  shape[static_cast<std::size_t>(axis)] = extent_of(positions, axis);
  return shape == positions.shape() && same_cut(x.layout(), positions.layout());
}

bool single(const Operand& value) { return !value.array() || value.array()->size() == 1; }

/// values[n] for n = 0, 1, ..., from the start again as often as needed.
DNDarray cycled(const DNDarray& values, const DNDarray& n) {
  return flatten(values).index({n % std::max<std::int64_t>(1, values.size())});
}

/// A vector as a mask over the whole of an axis.
DNDarray completed_mask(const DNDarray& condition, std::int64_t extent) {
  if (condition.size() > extent) {
    if (any(condition.index({slice(extent, std::nullopt)})).item<bool>())
      detail::raise<IndexError>("compress",
                                "got a condition of {} values with true ones beyond {} indices; expected none",
                                condition.size(), extent);
    return condition.index({slice(0, extent)}).astype(bool_);
  }
  const auto mask = full({extent}, false, {.comm = condition.comm()});
  mask.index_put({slice(0, condition.size())}, condition.astype(bool_));
  return mask;
}

void check_range(const char* op, const DNDarray& positions, std::int64_t extent) {
  if (positions.size() == 0) return;
  const auto low = min(positions).item<std::int64_t>(), high = max(positions).item<std::int64_t>();
  if (low < 0 || high >= extent)
    detail::raise<IndexError>(op, "got position {}; expected 0 <= position < {}", low < 0 ? low : high, extent);
}

/// The positions that are meant; those of the mode `raise` are checked by whoever uses them.
DNDarray in_mode(const DNDarray& positions, std::int64_t extent, IndexMode mode) {
  if (mode == IndexMode::raise || positions.size() == 0) return positions;
  const auto wide = positions.astype(int64);
  return mode == IndexMode::wrap ? remainder(wide, extent) : clip(wide, 0, extent - 1);
}

void check_kind(const char* op, const DNDarray& x, const Operand& values) {
  detail::check_kind(op, values.array() ? values.array()->dtype() : values.number().default_dtype(), x.dtype());
}

}  // namespace

DNDarray take(const DNDarray& x, const DNDarray& positions, const TakeOptions& options) {
  const auto extent = options.axis ? extent_of(x, sanitize_axis(*options.axis, x.ndim(), "take")) : x.size();
  return take(x, in_mode(positions, extent, options.mode), options.axis);
}

DNDarray take(const DNDarray& x, const DNDarray& positions, std::optional<int> axis) {
  if (positions.dtype() == bool_) return take(x, positions.astype(int64), axis);
  if (!axis) return flatten(x).index({positions});
  detail::Positions along{
      {sanitize_axis(*axis, x.ndim(), "take")}, {positions}, sanitize_axis(*axis, x.ndim(), "take")};
  return detail::take_positions("take", x, std::move(along));
}

DNDarray take_along_axis(const DNDarray& x, const DNDarray& positions, std::optional<int> given) {
  if (!given) return take_along_axis(flatten(x), positions, 0);
  const auto axis = sanitize_axis(*given, x.ndim(), "take_along_axis");
  if (!lie_together(x, positions, axis))
    return detail::take_positions("take_along_axis", x, along_axis("take_along_axis", x, positions, axis));
  const auto extent = extent_of(x, axis);
  const auto failed = any(logical_or(positions < -extent, positions >= extent)).item<bool>();
  if (failed)
    detail::raise<IndexError>("take_along_axis",
                              "got positions beyond axis {} of an array of shape {}; expected {} <= position < {}",
                              axis, to_string(x.shape()), -extent, extent);
  const auto rising = at::remainder(positions.larray().to(at::kLong), std::max<std::int64_t>(1, extent));
  return detail::wrap(at::gather(x.larray(), axis, rising), positions.layout(), x.comm());
}

void put_along_axis(const DNDarray& x, const DNDarray& positions, const Operand& values, std::optional<int> given) {
  if (!given) return put(x, positions, values);
  const auto axis = sanitize_axis(*given, x.ndim(), "put_along_axis");
  detail::put_positions("put_along_axis", x, along_axis("put_along_axis", x, positions, axis), values);
}

void put(const DNDarray& x, const DNDarray& positions, const Operand& values, const ModeOptions& options) {
  if (x.ndim() == 0) return put(detail::insert_axis(x, 0), positions, values, options);
  if (!values.array()) detail::check_in_range("put", values.number(), x.dtype());
  else if (values.array()->size() == 0) return;
  const auto flat = flatten(in_mode(positions.astype(int64), x.size(), options.mode));
  detail::Positions places;
  for (int axis = 0; axis < x.ndim(); ++axis) places.axes.push_back(axis);
  places.arrays = unravel_index(where(flat < 0, flat + x.size(), flat), x.shape());
  if (single(values))
    return detail::put_positions("put", x, places, values.array() ? Operand(flatten(*values.array())) : values);
  detail::put_positions("put", x, places,
                        cycled(*values.array(), arange(flat.size(), {.split = flat.split(), .comm = x.comm()})));
}

void putmask(const DNDarray& x, const DNDarray& mask, const Operand& values) {
  check_kind("putmask", x, values);
  if (values.array() && values.array()->size() == 0) return;
  if (single(values))
    return x.index_put({mask.astype(bool_)}, values.array() ? Operand(reshape(*values.array(), {})) : values);
  x.index_put({mask.astype(bool_)}, cycled(*values.array(), flatnonzero(mask)));
}

void place(const DNDarray& x, const DNDarray& mask, const DNDarray& values) {
  check_kind("place", x, values);
  const auto n = sum(mask.astype(bool_)).item<std::int64_t>();
  if (n > 0 && values.size() == 0) detail::raise<ValueError>("place", "got no values for {} places; expected some", n);
  x.index_put({mask.astype(bool_)}, cycled(values, arange(n, {.comm = x.comm()})));
}

void copyto(const DNDarray& x, const Operand& source, const std::optional<DNDarray>& condition) {
  check_kind("copyto", x, source);
  if (condition) x.index_put({ellipsis}, where(*condition, source, x));
  else x.index_put({ellipsis}, source);
}

DNDarray extract(const DNDarray& condition, const DNDarray& x) {
  return flatten(x).index({flatten(condition).astype(bool_)});
}

DNDarray compress(const DNDarray& condition, const DNDarray& x, std::optional<int> axis) {
  const auto whole = axis ? x : flatten(x);
  const auto at_axis = sanitize_axis(axis.value_or(0), whole.ndim(), "compress");
  return detail::along(whole, at_axis, completed_mask(condition, extent_of(whole, at_axis)));
}

DNDarray choose(const DNDarray& positions, const Choices& choices, const ModeOptions& options) {
  const auto which = in_mode(positions, std::ssize(choices), options.mode);
  check_range("choose", which, std::ssize(choices));
  if (choices.empty()) detail::raise<ValueError>("choose", "got no choices; expected at least one");
  auto result = where(eq(which, 0), choices.front(), choices.back());
  for (std::int64_t i = 1; i + 1 < std::ssize(choices); ++i)
    result = where(eq(which, i), choices[static_cast<std::size_t>(i)], result);
  return result;
}

DNDarray select(const std::vector<DNDarray>& conditions, const Choices& choices, const Operand& otherwise) {
  if (conditions.empty() || conditions.size() != choices.size())
    detail::raise<ValueError>("select", "got {} conditions and {} choices; expected as many of both, and some",
                              conditions.size(), choices.size());
  auto result = otherwise;
  for (auto i = conditions.size(); i-- > 0;) result = where(conditions[i], choices[i], result);
  return *result.array();
}

DNDarray piecewise(const DNDarray& x, const std::vector<DNDarray>& conditions, const std::vector<Piece>& functions) {
  const auto n = conditions.size();
  if (functions.size() != n && functions.size() != n + 1)
    detail::raise<ValueError>("piecewise", "got {} functions for {} conditions; expected as many or one more",
                              functions.size(), n);
  auto result = zeros_like(x);
  const auto choose = [&](const DNDarray& condition, const Operand& piece) {
    const ArrayOptions alike{.dtype = x.dtype(), .device = x.device(), .comm = x.comm()};
    result =
        where(condition, piece.array() ? piece.array()->astype(x.dtype()) : full({}, piece.number(), alike), result);
  };
  if (functions.size() > n) choose(ones_like(x, bool_), functions.back()(x));
  for (std::size_t i = 0; i < n; ++i) choose(conditions[i], functions[i](x));
  return result;
}

std::vector<DNDarray> unravel_index(const DNDarray& positions, const Shape& shape, Order order) {
  if (order == Order::F) {
    auto result = unravel_index(positions, Shape(shape.rbegin(), shape.rend()));
    std::ranges::reverse(result);
    return result;
  }
  check_range("unravel_index", positions, size_of(shape));
  if (shape.empty() && positions.ndim() > 0)
    detail::raise<ValueError>("unravel_index", "got positions of shape {} for an array without axes; expected one",
                              to_string(positions.shape()));
  std::vector<DNDarray> result(shape.size(), positions);
  auto rest = positions.astype(int64);
  for (auto axis = shape.size(); axis-- > 0;) {
    result[axis] = remainder(rest, std::max<std::int64_t>(1, shape[axis]));
    rest = floor_divide(rest, std::max<std::int64_t>(1, shape[axis]));
  }
  return result;
}

DNDarray ravel_multi_index(const std::vector<DNDarray>& arrays, const Shape& shape, const RavelOptions& options) {
  const auto modes = options.modes.empty() ? std::vector(shape.size(), options.mode) : options.modes;
  if (arrays.empty() || arrays.size() != shape.size() || modes.size() != shape.size())
    detail::raise<ValueError>("ravel_multi_index",
                              "got {} arrays and {} modes for shape {}; expected one for each axis", arrays.size(),
                              modes.size(), to_string(shape));
  if (options.order == Order::F)
    return ravel_multi_index({arrays.rbegin(), arrays.rend()}, Shape(shape.rbegin(), shape.rend()),
                             {.modes = {modes.rbegin(), modes.rend()}});
  auto positions = arrays;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    positions[axis] = in_mode(arrays[axis], shape[axis], modes[axis]);
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    check_range("ravel_multi_index", positions[axis], shape[axis]);
  auto result = positions.front().astype(int64);
  for (std::size_t axis = 1; axis < shape.size(); ++axis) result = result * shape[axis] + positions[axis];
  return result;
}

std::vector<DNDarray> ix_(const std::vector<DNDarray>& positions) {
  std::vector<DNDarray> result;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i].ndim() != 1)
      detail::raise<ValueError>("ix_", "got an array of shape {}; expected vectors", to_string(positions[i].shape()));
    Shape shape(positions.size(), 1);
    shape[i] = -1;
    result.push_back(reshape(positions[i].dtype() == bool_ ? nonzero(positions[i]).front() : positions[i], shape));
  }
  return result;
}

}  // namespace heatpp
