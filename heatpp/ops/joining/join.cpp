#include <heatpp/ops/joining/join.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/common_dtype.hpp>
#include <heatpp/core/detail/cuts/stretched.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/ops/indexing/detail/positions.hpp>
#include <heatpp/ops/indexing/nonzero.hpp>
#include <heatpp/ops/joining/detail/joined.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/ops/shape/detail/along.hpp>
#include <heatpp/ops/shape/reshape.hpp>

#include <algorithm>

namespace heatpp {
namespace {

using detail::along;
using detail::extent_of;

void check_parts(const char* op, const Arrays& arrays, int axis) {
  const auto& first = arrays.front();
  for (const auto& x : arrays) {
    detail::check_same_comm(op, first.comm(), x.comm());
    auto shape = x.shape();
    if (x.ndim() == first.ndim()) shape[static_cast<std::size_t>(axis)] = first.shape()[static_cast<std::size_t>(axis)];
    if (shape != first.shape())
      detail::raise<ValueError>(op,
                                "got arrays of shapes {} and {} to join along axis {}; expected equal extents along "
                                "the other axes",
                                to_string(first.shape()), to_string(x.shape()), axis);
  }
}

Layout layout_of_joined(const Arrays& arrays, int axis) {
  auto shape = arrays.front().shape();
  for (std::size_t i = 1; i < arrays.size(); ++i)
    shape[static_cast<std::size_t>(axis)] += arrays[i].shape()[static_cast<std::size_t>(axis)];
  for (const auto& x : arrays) {
    if (!x.layout().is_cut()) continue;
    const auto ranks = x.layout().cut_along(axis).ranks();
    return detail::with_cut(x.layout(), axis, detail::Cut::even(shape[static_cast<std::size_t>(axis)], ranks));
  }
  return {shape, std::nullopt, arrays.front().comm().size()};
}

DNDarray join(const char* op, Arrays arrays, int axis) {
  if (arrays.empty()) detail::raise<ValueError>(op, "got no arrays; expected at least one");
  if (arrays.front().ndim() == 0) detail::raise<ValueError>(op, "got an array without axes; expected at least one");
  axis = sanitize_axis(axis, arrays.front().ndim(), op);
  check_parts(op, arrays, axis);
  const auto dtype = detail::common_dtype(arrays);
  for (auto& x : arrays) x = x.astype(dtype);
  return detail::joined(op, arrays, axis, layout_of_joined(arrays, axis));
}

template <class F>
Arrays mapped(const Arrays& arrays, F f) {
  Arrays result;
  for (const auto& x : arrays) result.push_back(f(x));
  return result;
}

/// Returns the index before `position`.
std::int64_t place_before(const char* op, const DNDarray& x, std::int64_t position, int axis) {
  const auto extent = extent_of(x, axis);
  if (position < -extent || position > extent)
    detail::raise<IndexError>(op,
                              "got position {} along axis {} of an array of shape {}; expected {} <= position <= {}",
                              position, axis, to_string(x.shape()), -extent, extent);
  return position < 0 ? position + extent : position;
}

/// The depth of the braces, the most axes of an array in them, and an array.
struct Measured {
  int depth, ndim;
  std::optional<DNDarray> like;
};
Measured measured(const Blocks& blocks, int outer) {
  if (blocks.array()) {
    const auto* x = blocks.array()->array();
    return {outer, x ? x->ndim() : 0, x ? std::optional(*x) : std::nullopt};
  }
  if (blocks.parts().empty()) detail::raise<ValueError>("block", "got empty braces; expected arrays");
  std::optional<Measured> result;
  for (const auto& part : blocks.parts()) {
    const auto found = measured(part, outer + 1);
    if (!result) result = found;
    if (result->depth != found.depth)
      detail::raise<ValueError>("block", "got braces of depths {} and {}; expected the same everywhere", result->depth,
                                found.depth);
    result->ndim = std::max(result->ndim, found.ndim);
    if (!result->like) result->like = found.like;
  }
  return *result;
}

/// Joins the blocks of braces with `depth` levels, in arrays with `ndim` axes.
DNDarray joined_blocks(const Blocks& blocks, int depth, int ndim, const DNDarray& like) {
  if (blocks.array()) {
    const auto* array = blocks.array()->array();
    auto x = array ? *array : full({}, blocks.array()->number(), {.device = like.device(), .comm = like.comm()});
    while (x.ndim() < ndim) x = expand_dims(x, 0);
    return x;
  }
  Arrays parts;
  for (const auto& part : blocks.parts()) parts.push_back(joined_blocks(part, depth - 1, ndim, like));
  return parts.size() == 1 ? parts.front() : join("block", parts, ndim - depth);
}

/// Returns the values to insert, with at least as many axes as `x` and in its dtype.
DNDarray as_inserted(const DNDarray& x, const Operand& values) {
  detail::check_value("insert", values, x.dtype());
  auto result = values.array()
                    ? values.array()->astype(x.dtype())
                    : full({}, values.number(), {.dtype = x.dtype(), .device = x.device(), .comm = x.comm()});
  while (result.ndim() < x.ndim()) result = expand_dims(result, 0);
  return result;
}

/// Stretches `values` to `count` indices of `x`.
DNDarray stretched(const DNDarray& values, const DNDarray& x, int axis, std::int64_t count) {
  auto shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = count;
  return broadcast_to(detail::without_leading_ones(values, x.ndim()), shape);
}

/// Inserts indices of `values` before `place`.
DNDarray inserted_at(const DNDarray& x, std::int64_t place, const DNDarray& values, int axis) {
  return join("insert",
              {along(x, axis, slice(0, place)), stretched(values, x, axis, extent_of(values, axis)),
               along(x, axis, slice(place, std::nullopt))},
              axis);
}

/// Uses a mask of the indices along the axis, cut as they are.
DNDarray without(const DNDarray& array, const Index& indices, std::optional<int> along_axis) {
  const auto [x, axis] = detail::with_axis("delete_", array, along_axis);
  const auto cut = x.layout().with({extent_of(x, axis)}, x.split() == axis ? std::optional(0) : std::nullopt);
  const auto mask = at::ones(cut.local_shape(x.comm().rank()), x.larray().options().dtype(at::kBool));
  auto keep = detail::wrap(mask, cut, x.comm());
  keep.index_put({indices}, false);
  return along(x, axis, keep);
}

}  // namespace

DNDarray concatenate(const Arrays& arrays, std::optional<int> axis) {
  if (axis) return join("concatenate", arrays, *axis);
  return join("concatenate", mapped(arrays, [](const auto& x) { return flatten(x); }), 0);
}
DNDarray stack(const Arrays& arrays, int axis) {
  return join("stack", mapped(arrays, [&](const auto& x) { return expand_dims(x, axis); }),
              arrays.empty() ? 0 : sanitize_axis(axis, arrays.front().ndim() + 1, "stack"));
}
DNDarray hstack(const Arrays& arrays) {
  const auto parts = mapped(arrays, atleast_1d);
  return join("hstack", parts, parts.empty() || parts.front().ndim() == 1 ? 0 : 1);
}
DNDarray vstack(const Arrays& arrays) { return join("vstack", mapped(arrays, atleast_2d), 0); }
DNDarray dstack(const Arrays& arrays) { return join("dstack", mapped(arrays, atleast_3d), 2); }
DNDarray column_stack(const Arrays& arrays) {
  const auto column = [](const DNDarray& x) { return x.ndim() < 2 ? expand_dims(atleast_1d(x), 1) : x; };
  return join("column_stack", mapped(arrays, column), 1);
}
DNDarray block(const Blocks& blocks) {
  const auto [depth, ndim, like] = measured(blocks, 0);
  if (!like) detail::raise<ValueError>("block", "got no array; expected at least one");
  const auto result = joined_blocks(blocks, depth, std::max(depth, ndim), *like);
  const auto* inside = &blocks;
  while (inside->parts().size() == 1) inside = &inside->parts().front();
  return inside->array() ? copy(result) : result;
}

DNDarray append(const DNDarray& x, const DNDarray& values, std::optional<int> axis) {
  return axis ? join("append", {x, values}, *axis) : join("append", {flatten(x), flatten(values)}, 0);
}

DNDarray insert(const DNDarray& array, std::int64_t position, const Operand& values, std::optional<int> along_axis) {
  const auto [x, axis] = detail::with_axis("insert", array, along_axis);
  return inserted_at(x, place_before("insert", x, position, axis), moveaxis(as_inserted(x, values), 0, axis), axis);
}

DNDarray insert(const DNDarray& array, const std::vector<std::int64_t>& positions, const Operand& values,
                std::optional<int> along_axis) {
  const auto [x, axis] = detail::with_axis("insert", array, along_axis);
  const auto given = as_inserted(x, values);
  if (positions.size() == 1) return inserted_at(x, place_before("insert", x, positions.front(), axis), given, axis);
  const auto indices = stretched(given, x, axis, std::ssize(positions));
  std::vector<std::pair<std::int64_t, std::int64_t>> places;  // and the index of `values` for it
  for (const auto position : positions)
    places.emplace_back(place_before("insert", x, position, axis), std::ssize(places));
  std::ranges::sort(places);
  Arrays parts;
  std::int64_t first = 0;
  for (const auto& [place, index] : places) {
    if (place > first) parts.push_back(along(x, axis, slice(first, place)));
    parts.push_back(along(indices, axis, slice(index, index + 1)));
    first = place;
  }
  parts.push_back(along(x, axis, slice(first, std::nullopt)));
  return join("insert", parts, axis);
}

DNDarray insert(const DNDarray& x, const DNDarray& positions, const Operand& values, std::optional<int> axis) {
  if (positions.ndim() > 1 || (positions.ndim() == 0 && positions.dtype() == bool_))
    detail::raise<ValueError>("insert", "got positions of shape {} and {}; expected one axis, or a whole number",
                              to_string(positions.shape()), name(positions.dtype()));
  const auto places = positions.dtype() == bool_ ? nonzero(positions).front() : positions;
  detail::check_positions("insert", x, places);
  if (places.ndim() == 0) return insert(x, places.item<std::int64_t>(), values, axis);
  return insert(x, places.to_vector<std::int64_t>(), values, axis);
}

std::vector<std::int64_t> detail::positions_in(const Slice& slice, const DNDarray& x, std::optional<int> axis) {
  const auto n = axis ? extent_of(x, sanitize_axis(*axis, x.ndim(), "slice")) : x.size();
  const auto [start, count, step] = resolve(slice, n, "slice");
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < count; ++i) positions.push_back(start + i * step);
  return positions;
}

DNDarray delete_(const DNDarray& x, const std::vector<std::int64_t>& positions, std::optional<int> axis) {
  return without(x, Index(positions), axis);
}
DNDarray delete_(const DNDarray& x, const DNDarray& indices, std::optional<int> axis) {
  const Shape all{axis ? extent_of(x, sanitize_axis(*axis, x.ndim(), "delete_")) : x.size()};
  if (indices.dtype() == bool_ && indices.shape() != all)
    detail::raise<ValueError>("delete_", "got a mask of shape {}; expected {}", to_string(indices.shape()),
                              to_string(all));
  return without(x, Index(indices), axis);
}

}  // namespace heatpp
