#include <heatpp/ops/indexing/detail/mask.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/without_copies.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/indexing/detail/compress.hpp>
#include <heatpp/ops/indexing/detail/mask_on_grid.hpp>
#include <heatpp/ops/operands/detail/align.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::detail {

void check_mask(const char* op, const DNDarray& x, int axis, const DNDarray& mask) {
  const auto first = x.shape().begin() + axis;
  const bool fits =
      mask.dtype() == bool_ && mask.ndim() > 0 && std::equal(mask.shape().begin(), mask.shape().end(), first);
  if (!fits)
    raise<IndexError>(
        op,
        "got a mask of shape {} and dtype {} at axis {} of an array of shape {}; expected bool and the extents there",
        to_string(mask.shape()), name(mask.dtype()), axis, to_string(x.shape()));
  check_same_comm(op, x.comm(), mask.comm());
}

namespace {

/// Returns the shape of the result if this many elements of the mask are true.
Shape shape_left(const DNDarray& x, int axis, const DNDarray& mask, std::int64_t count) {
  auto shape = x.shape();
  shape.erase(shape.begin() + axis, shape.begin() + axis + mask.ndim());
  shape.insert(shape.begin() + axis, count);
  return shape;
}

/// Returns the split of the result.
std::optional<int> split_left(const DNDarray& x, int axis, const DNDarray& mask) {
  if (!x.split() || *x.split() < axis) return x.split();
  return *x.split() < axis + mask.ndim() ? axis : *x.split() - mask.ndim() + 1;
}

bool is_over_split(const DNDarray& x, int axis, const DNDarray& mask) {
  return x.split() && *x.split() >= axis && *x.split() < axis + mask.ndim();
}

/// Returns the routes of a mask from `axis` on of an array on a grid without copies.
MaskRoutes routes_on_grid(const char* op, const DNDarray& x, int axis, const DNDarray& mask) {
  std::vector<int> axes(static_cast<std::size_t>(mask.ndim()));
  std::iota(axes.begin(), axes.end(), axis);
  return {x, axis, relayout_operand(op, mask, x.layout().along(mask.shape(), axes), x.comm())};
}

bool put_mask_on_grid(const char* op, const DNDarray& x, int axis, const DNDarray& mask, const DNDarray& value) {
  if (x.layout().grid_cut().copies() > 1 || value.ndim() != x.ndim() - mask.ndim() + 1) return false;
  const auto routes = routes_on_grid(op, x, axis, mask);
  if (value.shape() != routes.layout().shape()) return false;
  const auto block = x.larray();
  const auto elements = relayout_operand(op, value, routes.layout(), x.comm()).to(block.options());
  routes.put(block, apart_from(block, elements));
  return true;
}

}  // namespace

bool put_mask(const char* op, const DNDarray& x, int axis, const DNDarray& mask, const DNDarray& value) {
  check_mask(op, x, axis, mask);
  check_same_comm(op, x.comm(), value.comm());
  if (x.layout().is_grid()) return put_mask_on_grid(op, x, axis, mask, value);
  if (mask.layout().is_grid() || value.layout().is_grid()) return false;
  const bool over_split = is_over_split(x, axis, mask);
  const bool alike =
      over_split ? x.split() == axis && same_cut(mask.layout(), x.layout().with(mask.shape(), 0)) : !mask.split();
  if (!alike || value.ndim() != x.ndim() - mask.ndim() + 1 || value.split() != split_left(x, axis, mask) ||
      value.shape() != shape_left(x, axis, mask, value.shape(axis)))
    return false;
  const auto count = count_true(mask.larray());
  const auto layout = over_split ? Layout::from_counts(value.shape(), axis, x.comm().allgather(count))
                                 : x.layout().with(shape_left(x, axis, mask, count), value.split());
  if (layout != value.layout()) return false;
  const auto block = x.larray();
  write_compressed(block, axis, apart_from(block, mask.larray().to(block.device())),
                   apart_from(block, value.larray().to(block.options())));
  return true;
}

DNDarray take_mask(const char* op, const DNDarray& array, int axis, const DNDarray& given) {
  check_mask(op, array, axis, given);
  auto x = without_copies(array);
  if (x.layout().is_grid()) {
    const auto routes = routes_on_grid(op, x, axis, given);
    return wrap(routes.taken(x.larray()), routes.layout(), x.comm());
  }
  const auto mask = given.layout().is_grid() ? resplit(given, 0) : given;
  if (!x.split() && mask.split()) {
    const auto cut = mask.layout().with(x.shape(), *mask.split() + axis);
    x = brought_to(x, cut);
  }
  const bool over_split = is_over_split(x, axis, mask);
  const bool alike = over_split && same_cut(mask.layout(), x.layout().with(mask.shape(), *x.split() - axis));
  if (over_split && *x.split() != axis) x = resplit(x, axis);

  const auto mask_layout = over_split ? x.layout().with(mask.shape(), 0) : mask.layout().replicated(mask.shape());
  // In one layout, both are recut or neither.
  const auto block = alike ? relayout(mask, mask_layout) : relayout_operand(op, mask, mask_layout, x.comm());
  auto local = compressed(x.larray(), axis, block.to(x.larray().device()));

  auto shape = shape_left(x, axis, mask, local.size(axis));
  if (!over_split) return wrap(std::move(local), x.layout().with(shape, split_left(x, axis, mask)), x.comm());
  const auto counts = x.comm().allgather(local.size(axis));
  return wrap(std::move(local), Layout::from_counts(std::move(shape), axis, counts), x.comm());
}

}  // namespace heatpp::detail
