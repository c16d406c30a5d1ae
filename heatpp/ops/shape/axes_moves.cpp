#include <heatpp/ops/shape/axes_moves.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/stretched.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/ops/operands/detail/checked_axes.hpp>
#include <heatpp/ops/shape/detail/along.hpp>
#include <heatpp/ops/shape/detail/basic_index.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp {
namespace {

DNDarray permuted(const DNDarray& x, const std::vector<int>& order) {
  Shape shape;
  for (const auto axis : order) shape.push_back(x.shape()[static_cast<std::size_t>(axis)]);
  const std::vector<std::int64_t> wide(order.begin(), order.end());
  return detail::wrap(x.larray().permute(wide), x.layout().along(std::move(shape), order), x.comm());
}

std::vector<int> all_axes(int ndim) {
  std::vector<int> axes(static_cast<std::size_t>(ndim));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

/// Returns axes of extent 1 that squeeze removes, rising.
std::vector<int> single_axes(const DNDarray& x, const Axes& axis) {
  if (!axis.all()) {
    const auto& given = axis.values();
    if (x.ndim() == 0 && given.size() == 1 && (given.front() == 0 || given.front() == -1)) return {};
    auto axes = detail::different_axes("squeeze", given, x.ndim());
    std::ranges::sort(axes);
    for (const auto a : axes)
      if (x.shape()[static_cast<std::size_t>(a)] != 1)
        detail::raise<ValueError>("squeeze", "got axis {} of an array of shape {}; expected an axis of extent 1", a,
                                  to_string(x.shape()));
    return axes;
  }
  auto axes = all_axes(x.ndim());
  std::erase_if(axes, [&](int a) { return x.shape()[static_cast<std::size_t>(a)] != 1; });
  return axes;
}

DNDarray in_front(const DNDarray& x, int axes) {
  auto result = x;
  while (result.ndim() < axes) result = detail::insert_axis(result, 0);
  return result;
}

}  // namespace

DNDarray transpose(const DNDarray& x, const std::vector<int>& axes) {
  auto order = all_axes(x.ndim());
  std::ranges::reverse(order);
  if (!axes.empty()) order = detail::different_axes("transpose", axes, x.ndim());
  if (static_cast<int>(order.size()) != x.ndim())
    detail::raise<ValueError>("transpose", "got axes {} for an array of shape {}; expected all axes",
                              detail::tuple_text(axes), to_string(x.shape()));
  return permuted(x, order);
}

DNDarray matrix_transpose(const DNDarray& x) {
  detail::check_ndim("matrix_transpose", x, 2);
  return swapaxes(x, -1, -2);
}

DNDarray swapaxes(const DNDarray& x, int a, int b) {
  auto order = all_axes(x.ndim());
  std::swap(order[static_cast<std::size_t>(sanitize_axis(a, x.ndim(), "swapaxes"))],
            order[static_cast<std::size_t>(sanitize_axis(b, x.ndim(), "swapaxes"))]);
  return permuted(x, order);
}

DNDarray moveaxis(const DNDarray& x, const std::vector<int>& from, const std::vector<int>& to) {
  const auto sources = detail::different_axes("moveaxis", from, x.ndim()),
             targets = detail::different_axes("moveaxis", to, x.ndim());
  if (sources.size() != targets.size())
    detail::raise<ValueError>("moveaxis", "got axes {} and places {}; expected as many of both",
                              detail::tuple_text(from), detail::tuple_text(to));
  auto others = all_axes(x.ndim());
  std::erase_if(others, [&](int axis) { return std::ranges::find(sources, axis) != sources.end(); });
  std::vector<int> order;
  for (int place = 0, next = 0; place < x.ndim(); ++place) {
    const auto target = std::ranges::find(targets, place);
    order.push_back(target != targets.end() ? sources[static_cast<std::size_t>(target - targets.begin())]
                                            : others[static_cast<std::size_t>(next++)]);
  }
  return permuted(x, order);
}

DNDarray rollaxis(const DNDarray& x, int axis, int start) {
  axis = sanitize_axis(axis, x.ndim(), "rollaxis");
  if (start < -x.ndim() || start > x.ndim())
    detail::raise<IndexError>("rollaxis", "got start {} for an array of shape {}; expected {} <= start <= {}", start,
                              to_string(x.shape()), -x.ndim(), x.ndim());
  if (start < 0) start += x.ndim();
  return moveaxis(x, axis, start > axis ? start - 1 : start);
}

DNDarray expand_dims(const DNDarray& x, const Axes& axis) {
  auto axes = detail::different_axes("expand_dims", axis.values(), x.ndim() + static_cast<int>(axis.values().size()));
  std::ranges::sort(axes);
  auto result = x;
  for (const auto place : axes) result = detail::insert_axis(result, place);
  return result;
}

DNDarray squeeze(const DNDarray& x, const Axes& axis) {
  const auto axes = single_axes(x, axis);
  auto result = x;
  for (auto a = axes.rbegin(); a != axes.rend(); ++a) result = detail::take_position("squeeze", result, *a, 0);
  return result;
}

DNDarray atleast_1d(const DNDarray& x) { return in_front(x, 1); }
DNDarray atleast_2d(const DNDarray& x) { return in_front(x, 2); }
DNDarray atleast_3d(const DNDarray& x) {
  const auto matrix = in_front(x, 2);
  return matrix.ndim() == 2 ? detail::insert_axis(matrix, 2) : matrix;
}

DNDarray broadcast_to(const DNDarray& x, const Shape& shape) {
  constexpr auto op = "broadcast_to";
  const bool negative = std::ranges::any_of(shape, [](auto extent) { return extent < 0; });
  if (negative || !detail::broadcasts_to(x.shape(), shape))
    detail::raise<ValueError>(op, "got an array of shape {} for shape {}; expected one that broadcasts to it",
                              to_string(x.shape()), to_string(shape));
  const auto layout = detail::stretched(x.layout(), shape);
  const auto block = detail::relayout_operand(op, x, detail::to_meet(layout, x.shape()), x.comm());
  return detail::wrap(block.expand(layout.local_shape(x.comm().rank())), layout, x.comm());
}

const std::vector<DNDarray> broadcast_arrays(const std::vector<DNDarray>& arrays) {
  Shape shape;
  for (const auto& x : arrays) {
    detail::check_same_comm("broadcast_arrays", arrays.front().comm(), x.comm());
    shape = broadcast_shapes(shape, x.shape(), "broadcast_arrays");
  }
  std::vector<DNDarray> result;
  for (const auto& x : arrays) result.push_back(broadcast_to(x, shape));
  return result;
}

DNDarray flip(const DNDarray& x, const Axes& axis) {
  auto result = x;
  for (const auto a : axis.all() ? all_axes(x.ndim()) : detail::different_axes("flip", axis.values(), x.ndim()))
    result = detail::reversed(result, a);
  return result;
}

DNDarray flipud(const DNDarray& x) {
  detail::check_ndim("flipud", x, 1);
  return flip(x, 0);
}
DNDarray fliplr(const DNDarray& x) {
  detail::check_ndim("fliplr", x, 2);
  return flip(x, 1);
}

DNDarray rot90(const DNDarray& x, int k, const std::pair<int, int>& axes) {
  detail::check_ndim("rot90", x, 2);
  const auto pair = detail::different_axes("rot90", {axes.first, axes.second}, x.ndim());
  switch (((k % 4) + 4) % 4) {
    case 1: return swapaxes(flip(x, pair[1]), pair[0], pair[1]);
    case 2: return flip(x, {pair[0], pair[1]});
    case 3: return flip(swapaxes(x, pair[0], pair[1]), pair[1]);
    default: return x;
  }
}

}  // namespace heatpp
