#include <heatpp/ops/selection/selection.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/ownership.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/creation/creation.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/indexing/detail/positions.hpp>
#include <heatpp/ops/indexing/nonzero.hpp>
#include <heatpp/ops/joining/detail/padded.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/ops/operands/detail/as_array.hpp>
#include <heatpp/ops/operands/detail/origin.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/detail/along.hpp>
#include <heatpp/ops/shape/detail/basic_index.hpp>
#include <heatpp/ops/shape/reshape.hpp>

#include <algorithm>

namespace heatpp {
namespace {

using detail::extent_of;

/// Returns positions that together pick one element for each of `positions`, which lie along `axis`.
detail::Positions along_axis(const char* op, const DNDarray& x, const DNDarray& positions, int axis) {
  if (positions.ndim() != x.ndim())
    detail::raise<ValueError>(op, "got positions of shape {} for an array of shape {}; expected as many axes",
                              to_string(positions.shape()), to_string(x.shape()));
  detail::Positions all;
  all.in_lines = true;
  for (int other = 0; other < x.ndim(); ++other) {
    all.axes.push_back(other);
    all.in_lines = all.in_lines && (other == axis || extent_of(x, other) >= extent_of(positions, other));
    Shape shape(x.shape().size(), 1);
    shape[static_cast<std::size_t>(other)] = extent_of(x, other);
    all.arrays.push_back(other == axis ? positions : reshape(arange(extent_of(x, other), {.comm = x.comm()}), shape));
  }
  return all;
}

/// Whether each rank would hold what its positions along `axis` name if they were cut as `x`.
bool belong_together(const DNDarray& x, const DNDarray& positions, int axis) {
  auto shape = x.shape();
  if (positions.ndim() != x.ndim() || x.split() == axis) return false;
  shape[static_cast<std::size_t>(axis)] = extent_of(positions, axis);
  return shape == positions.shape() && (x.split() || !positions.split());
}

/// Returns positions cut as `x`.
DNDarray cut_as(const char* op, const DNDarray& x, const DNDarray& positions) {
  const auto target = x.layout().with(positions.shape(), x.split());
  return detail::wrap(detail::relayout_operand(op, positions, target, x.comm()), target, x.comm());
}

/// Returns what is written to the places n(): values[n], repeated from the start; nothing if there are no values.
template <class Places>
std::optional<Operand> cycled(const Operand& values, Places n) {
  if (!values.array()) return values;
  const auto size = values.array()->size();
  if (size == 0) return std::nullopt;
  if (size == 1) return reshape(*values.array(), {});
  return flatten(*values.array()).index({n() % size});
}

/// Whether positions along an axis are ignored, as in NumPy if an axis before it is empty.
bool takes_nothing(const DNDarray& x, int axis) { return size_of({x.shape().begin(), x.shape().begin() + axis}) == 0; }

/// Returns a vector as a mask over the whole of an axis.
DNDarray completed_mask(const char* op, const DNDarray& condition, std::int64_t extent) {
  if (condition.ndim() != 1)
    detail::raise<ValueError>(op, "got a condition of shape {}; expected a vector", to_string(condition.shape()));
  if (condition.size() == extent) return condition.astype(bool_);
  if (condition.size() < extent)
    return detail::padded_with(condition.astype(bool_), {{0, extent - condition.size()}}, 0);
  if (any(condition.index({slice(extent, std::nullopt)})).item<bool>())
    detail::raise<IndexError>(op, "got a condition of {} values with true ones beyond {} indices; expected none",
                              condition.size(), extent);
  return condition.index({slice(0, extent)}).astype(bool_);
}

DNDarray compressed(const char* op, const DNDarray& condition, const DNDarray& array, std::optional<int> along) {
  const auto x = detail::flat_without_axis(array, along);
  const auto axis = sanitize_axis(along.value_or(0), x.ndim(), op);
  const bool beyond = condition.size() > extent_of(x, axis);
  if (beyond && condition.ndim() == 1 && takes_nothing(x, axis)) return take(x, flatnonzero(condition), axis);
  return detail::along(x, axis, completed_mask(op, condition, extent_of(x, axis)));
}

/// Returns the mask over the elements of `x` in C order, in its shape.
DNDarray shaped_mask(const char* op, const DNDarray& x, const DNDarray& mask) {
  if (mask.size() != x.size())
    detail::raise<ValueError>(op, "got a mask of shape {} for an array of shape {}; expected as many elements",
                              to_string(mask.shape()), to_string(x.shape()));
  return reshape(mask.astype(bool_), x.shape());
}

/// Returns the positions with bool as 0 and 1. In the mode `raise` the caller checks them.
DNDarray in_mode(const char* op, const DNDarray& positions, std::int64_t extent, IndexMode mode) {
  if (positions.dtype() != bool_) detail::check_positions(op, positions, positions);
  const auto wide = positions.astype(int64);
  if (mode == IndexMode::raise || positions.size() == 0) return wide;
  return mode == IndexMode::wrap ? remainder(wide, extent) : clip(wide, 0, extent - 1);
}

/// Returns the positions along each axis for positions in range of the flattened array.
std::vector<DNDarray> unravelled(DNDarray rest, const Shape& shape) {
  std::vector<DNDarray> result(shape.size(), rest);
  for (auto axis = shape.size(); axis-- > 0;) {
    result[axis] = remainder(rest, std::max<std::int64_t>(1, shape[axis]));
    rest = floor_divide(rest, std::max<std::int64_t>(1, shape[axis]));
  }
  return result;
}

void check_kind(const char* op, const DNDarray& x, const Operand& values) {
  if (values.array()) detail::check_kind(op, values.array()->dtype(), x.dtype());
  else detail::check_number(op, values.number(), x.dtype());
}

/// putmask and place do not round or wrap what they write, as in NumPy.
void check_held(const char* op, const DNDarray& x, const Operand& values) {
  if (!values.array()) return detail::check_number(op, values.number(), x.dtype());
  if (const auto dtype = values.array()->dtype(); !can_cast(dtype, x.dtype()))
    detail::raise<TypeError>(op, "got values of {} for an array of {}; expected a dtype that it holds", name(dtype),
                             name(x.dtype()));
}

}  // namespace

DNDarray take(const DNDarray& array, const DNDarray& positions, const TakeOptions& options) {
  const auto x = detail::flat_without_axis(array, options.axis);
  const auto axis = sanitize_axis(options.axis.value_or(0), x.ndim(), "take");
  if (!takes_nothing(x, axis)) {
    const auto meant = in_mode("take", positions, extent_of(x, axis), options.mode);
    return detail::take_positions("take", x, {{axis}, {meant}, axis});
  }
  auto shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = 1;  // it may be empty, too
  const auto first = in_mode("take", positions, 1, IndexMode::clip);
  return detail::take_positions("take", zeros_like(x, {.shape = shape}), {{axis}, {first}, axis});
}

DNDarray take(const DNDarray& x, const DNDarray& positions, std::optional<int> axis) {
  return take(x, positions, TakeOptions{.axis = axis});
}

DNDarray take_along_axis(const DNDarray& array, const DNDarray& all_positions, std::optional<int> given) {
  if (!given) return take_along_axis(flatten(array), all_positions, 0);
  const auto x = detail::one_cut("take_along_axis", array);
  const auto given_positions = detail::one_cut("take_along_axis", all_positions);
  const auto axis = sanitize_axis(*given, x.ndim(), "take_along_axis");
  detail::check_positions("take_along_axis", x, given_positions);
  if (!belong_together(x, given_positions, axis))
    return detail::take_positions("take_along_axis", x, along_axis("take_along_axis", x, given_positions, axis));
  const auto positions = cut_as("take_along_axis", x, given_positions);
  const auto extent = extent_of(x, axis);
  const auto failed = any(logical_or(positions < -extent, positions >= extent)).item<bool>();
  if (failed)
    detail::raise<IndexError>("take_along_axis",
                              "got positions beyond axis {} of an array of shape {}; expected {} <= position < {}",
                              axis, to_string(x.shape()), -extent, extent);
  const auto rising =
      at::remainder(positions.larray().to(x.larray().device(), at::kLong), std::max<std::int64_t>(1, extent));
  return detail::wrap(at::gather(x.larray(), axis, rising), positions.layout(), x.comm());
}

void put_along_axis(DNDarray& x, const DNDarray& positions, const Operand& values, std::optional<int> given) {
  if (!given) {
    detail::check_positions("put_along_axis", x, positions);
    if (positions.ndim() != 1)
      detail::raise<ValueError>("put_along_axis", "got positions of shape {} in the flattened array; expected a vector",
                                to_string(positions.shape()));
    return put(x, positions, values.array() ? broadcast_to(*values.array(), positions.shape()) : values);
  }
  const auto axis = sanitize_axis(*given, x.ndim(), "put_along_axis");
  detail::check_positions("put_along_axis", x, positions);
  const auto in_one_cut = detail::one_cut("put_along_axis", positions);
  const bool together = !x.layout().is_grid() && belong_together(x, in_one_cut, axis);
  const auto places = together ? cut_as("put_along_axis", x, in_one_cut) : in_one_cut;
  detail::own("put_along_axis", x, values.temporary());
  detail::put_positions("put_along_axis", x, along_axis("put_along_axis", x, places, axis), values);
}

void put(DNDarray& x, const DNDarray& positions, const Operand& values, const ModeOptions& options) {
  detail::own("put", x, values.temporary());
  if (x.ndim() == 0) {
    auto line = detail::written_through(detail::insert_axis(x, 0));
    return put(line, positions, values, options);
  }
  const auto flat = flatten(in_mode("put", positions, x.size(), options.mode));
  const auto count = [&] { return arange(flat.size(), {.split = flat.split(), .comm = x.comm()}); };
  const auto written = cycled(values, count);
  if (!written) return;
  detail::Positions places;
  for (int axis = 0; axis < x.ndim(); ++axis) places.axes.push_back(axis);
  const auto rising = where(flat < 0, flat + x.size(), flat);
  detail::check_range("put", rising, x.size());
  places.arrays = unravelled(rising, x.shape());
  detail::put_positions("put", x, places, *written);
}

void putmask(DNDarray& x, const DNDarray& mask, const Operand& values) {
  check_held("putmask", x, values);
  const auto places = shaped_mask("putmask", x, mask);
  if (const auto written = cycled(values, [&] { return flatnonzero(places); })) x.index_put({places}, *written);
}

void place(DNDarray& x, const DNDarray& mask, const DNDarray& values) {
  const auto places = shaped_mask("place", x, mask);
  const auto n = sum(places).item<std::int64_t>();
  if (n > 0 || values.size() > 0) check_held("place", x, values);
  if (n > 0 && values.size() == 0) detail::raise<ValueError>("place", "got no values for {} places; expected some", n);
  if (const auto written = cycled(values, [&] { return arange(n, {.comm = x.comm()}); }))
    x.index_put({places}, *written);
}

void copyto(DNDarray& x, const Operand& source, const std::optional<DNDarray>& condition) {
  check_kind("copyto", x, source);
  if (condition) detail::check_bool("copyto", *condition);
  if (condition) x.index_put({ellipsis}, where(*condition, source, x));
  else x.index_put({ellipsis}, source);
}

void put_along_axis(Selection&& x, const DNDarray& positions, const Operand& values, std::optional<int> axis) {
  detail::changed(
      std::move(x), [&](DNDarray& part) { put_along_axis(part, positions, values, axis); }, values.temporary());
}
void put(Selection&& x, const DNDarray& positions, const Operand& values, const ModeOptions& options) {
  detail::changed(
      std::move(x), [&](DNDarray& part) { put(part, positions, values, options); }, values.temporary());
}
void putmask(Selection&& x, const DNDarray& mask, const Operand& values) {
  detail::changed(
      std::move(x), [&](DNDarray& part) { putmask(part, mask, values); }, values.temporary());
}
void place(Selection&& x, const DNDarray& mask, const DNDarray& values) {
  detail::changed(std::move(x), [&](DNDarray& part) { place(part, mask, values); });
}
void copyto(Selection&& x, const Operand& source, const std::optional<DNDarray>& where) {
  detail::changed(
      std::move(x), [&](DNDarray& part) { copyto(part, source, where); }, source.temporary());
}

DNDarray extract(const DNDarray& condition, const DNDarray& x) {
  return compressed("extract", flatten(condition), x, std::nullopt);
}

DNDarray compress(const DNDarray& condition, const DNDarray& x, std::optional<int> axis) {
  return compressed("compress", condition, x, axis);
}

DNDarray choose(const DNDarray& positions, const Choices& choices, const ModeOptions& options) {
  const auto which = in_mode("choose", positions, std::ssize(choices), options.mode);
  detail::check_range<ValueError>("choose", which, std::ssize(choices));
  if (choices.empty()) detail::raise<ValueError>("choose", "got no choices; expected at least one");
  const auto alike = detail::as_arrays("choose", choices, which);
  auto result = where(eq(which, 0), alike.front(), alike.back());
  for (std::int64_t i = 1; i + 1 < std::ssize(alike); ++i)
    result = where(eq(which, i), alike[static_cast<std::size_t>(i)], result);
  return result;
}

std::vector<DNDarray> unravel_index(const DNDarray& positions, const Shape& shape, Order order) {
  if (order == Order::F) {
    auto result = unravel_index(positions, Shape(shape.rbegin(), shape.rend()));
    std::ranges::reverse(result);
    return result;
  }
  const auto places = in_mode("unravel_index", positions, size_of(shape), IndexMode::raise);
  detail::check_range<ValueError>("unravel_index", places, size_of(shape));
  if (shape.empty() && positions.ndim() > 0)
    detail::raise<ValueError>("unravel_index", "got positions of shape {} for an array without axes; expected one",
                              to_string(positions.shape()));
  return unravelled(places, shape);
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
  (void)size_of(shape);  // the largest position must fit
  auto positions = arrays;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    positions[axis] = in_mode("ravel_multi_index", arrays[axis], shape[axis], modes[axis]);
  const bool nothing = std::ranges::any_of(positions, [](const auto& array) { return array.size() == 0; });
  for (std::size_t axis = 0; !nothing && axis < shape.size(); ++axis)
    detail::check_range<ValueError>("ravel_multi_index", positions[axis], shape[axis]);
  auto result = shape.size() == 1 ? copy(positions.front()) : positions.front();
  for (std::size_t axis = 1; axis < shape.size(); ++axis) result = result * shape[axis] + positions[axis];
  return result;
}

std::vector<DNDarray> ix_(const std::vector<DNDarray>& positions) {
  std::vector<DNDarray> result;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    detail::check_same_comm("ix_", positions.front().comm(), positions[i].comm());
    if (positions[i].ndim() != 1)
      detail::raise<ValueError>("ix_", "got an array of shape {}; expected vectors", to_string(positions[i].shape()));
    Shape shape(positions.size(), 1);
    shape[i] = -1;
    result.push_back(reshape(positions[i].dtype() == bool_ ? nonzero(positions[i]).front() : positions[i], shape));
  }
  return result;
}

}  // namespace heatpp
