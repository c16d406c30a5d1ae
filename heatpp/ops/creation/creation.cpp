#include <heatpp/ops/creation/creation.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/layout_of.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/with_dtype.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/detail/as_array.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/detail/along.hpp>
#include <heatpp/ops/shape/reshape.hpp>

#include <cmath>
#include <numbers>
#include <numeric>

namespace heatpp {
namespace {

/// Returns f(i) for i = 0 .. n - 1; a window with one point is 1.
template <class F>
DNDarray window(std::int64_t n, const ArrayOptions& options, F f) {
  const auto i = arange(std::max<std::int64_t>(0, n), detail::with_dtype(options, float64));
  const auto values = n == 1 ? i + 1.0 : f(i, static_cast<double>(n - 1));
  return values.astype(options.dtype.value_or(float64));
}

/// Returns a0 - a1 cos(2 pi i / m) + a2 cos(4 pi i / m).
DNDarray cosines(std::int64_t n, const ArrayOptions& options, std::array<double, 3> a) {
  return window(n, options, [&](const DNDarray& i, double m) {
    const auto angle = i * (2 * std::numbers::pi / m);
    return a[0] - a[1] * cos(angle) + a[2] * cos(angle * 2.0);
  });
}

/// Returns the positions along one axis of an array with this layout, stretched over it.
DNDarray positions_along(int axis, const Layout& layout, const ArrayOptions& options) {
  const auto& shape = layout.shape();
  Shape column(shape.size() - static_cast<std::size_t>(axis), 1);
  column.front() = -1;
  auto alone = options;
  alone.split = std::nullopt;
  alone.grid = {};
  const auto positions = arange(shape[static_cast<std::size_t>(axis)], alone);
  return detail::brought_to(broadcast_to(reshape(positions, column), shape), layout);
}

}  // namespace

DNDarray empty_like(const DNDarray& x, const LikeOptions& options) {
  const auto shape = options.shape.value_or(x.shape());
  const auto dtype = options.dtype.value_or(x.dtype());
  const auto own = x.layout().is_grid() ? std::optional(0) : x.split();  // another shape is cut along the first axis
  const bool alike =
      x.layout().is_grid() ? !options.split : options.split.value_or(own.value_or(-1)) == own.value_or(-1);
  if (shape == x.shape() && alike && options.grid.empty()) return empty_like(x, dtype);
  auto split = options.split;
  if (!split && options.grid.empty() && own && *own < static_cast<int>(shape.size())) split = own;
  return empty(shape, {.dtype = dtype, .split = split, .grid = options.grid, .device = x.device(), .comm = x.comm()});
}
DNDarray full_like(const DNDarray& x, const Operand& value, const LikeOptions& options) {
  auto result = empty_like(x, options);
  result.index_put({ellipsis}, value);
  return result;
}
DNDarray zeros_like(const DNDarray& x, const LikeOptions& options) { return full_like(x, 0, options); }
DNDarray ones_like(const DNDarray& x, const LikeOptions& options) { return full_like(x, 1, options); }
DNDarray full(const Shape& shape, const DNDarray& value, std::optional<Dtype> dtype) {
  return copy(broadcast_to(asarray(value, dtype), shape));
}

DNDarray logspace(double start, double stop, std::int64_t num, const ArrayOptions& options) {
  return logspace(LogspaceRange{.start = start, .stop = stop, .num = num}, options);
}
DNDarray logspace(const LogspaceRange& range, const ArrayOptions& options) {
  const auto exponents =
      linspace({range.start, range.stop, range.num, range.endpoint}, detail::with_dtype(options, float64));
  return power(range.base, exponents).astype(options.dtype.value_or(get_default_dtype()));
}

DNDarray geomspace(double start, double stop, std::int64_t num, const ArrayOptions& options) {
  return geomspace(LinspaceRange{.start = start, .stop = stop, .num = num}, options);
}
DNDarray geomspace(const LinspaceRange& range, const ArrayOptions& options) {
  const auto& [start, stop, num, endpoint] = range;
  if (start == 0 || stop == 0)
    detail::raise<ValueError>("geomspace", "got {} .. {}; expected two numbers that are not 0", start, stop);
  const auto sign = start < 0 ? -1.0 : 1.0;
  auto numbers = sign * logspace({std::log10(sign * start), std::log10(sign * stop), num, endpoint},
                                 detail::with_dtype(options, float64));
  // Logarithms and powers are rounded, so the ends are set exactly.
  if (num > 0) numbers.index_put({0}, start);
  if (num > 1 && endpoint) numbers.index_put({-1}, stop);
  return numbers.astype(options.dtype.value_or(get_default_dtype()));
}

double linspace_step(const LinspaceRange& range) {
  if (range.num < 0) detail::raise<ValueError>("linspace_step", "got num {}; expected num >= 0", range.num);
  const auto steps = range.num - (range.endpoint ? 1 : 0);
  return steps > 0 ? (range.stop - range.start) / static_cast<double>(steps) : NAN;
}

DNDarray linspace(const Operand& start, const Operand& stop, const SpaceOptions& options) {
  if (options.num < 0) detail::raise<ValueError>("linspace", "got num {}; expected num >= 0", options.num);
  const Operand ends[] = {start, stop};
  const bool no_array = !start.array() && !stop.array();
  const auto common = detail::common_type(ends), wide = promote_types(common, float64);
  const auto dtype = options.dtype.value_or(no_array && is_whole(common) ? get_default_dtype() : inexact_type(common));
  const auto* array = start.array() ? start.array() : stop.array();
  const auto& comm = array ? array->comm() : default_comm();
  const auto device = array ? array->device() : cpu;
  const auto column_of = [&](const Operand& end) {
    return expand_dims(detail::as_array(end, {.device = device, .comm = comm}).astype(wide), 0);
  };
  const auto from = column_of(start), to = column_of(stop);
  Shape column(static_cast<std::size_t>(std::max(from.ndim(), to.ndim())), 1);
  column.front() = -1;
  const auto steps = options.num - (options.endpoint ? 1 : 0);
  const auto i = reshape(arange(options.num, {.dtype = float64, .device = device, .comm = comm}), column);
  const auto numbers = from + (to - from) / static_cast<double>(std::max<std::int64_t>(1, steps)) * i;
  const auto ended =
      options.endpoint && options.num > 1 ? where(eq(i, static_cast<double>(steps)), to, numbers) : numbers;
  return moveaxis((is_integral(dtype) ? floor(ended) : ended).astype(dtype), 0, options.axis);
}

std::vector<DNDarray> meshgrid(const std::vector<DNDarray>& vectors, const MeshgridOptions& options) {
  const auto n = vectors.size();
  const bool xy = options.indexing == Indexing::xy;
  const auto axis_of = [&](std::size_t i) { return xy && i < 2 && n > 1 ? 1 - i : i; };
  Shape shape(n);
  for (std::size_t i = 0; i < n; ++i) {
    detail::check_same_comm("meshgrid", vectors.front().comm(), vectors[i].comm());
    shape[axis_of(i)] = vectors[i].size();
  }
  std::vector<DNDarray> grids;
  for (std::size_t i = 0; i < n; ++i) {
    Shape column(n - axis_of(i), 1);
    column.front() = -1;
    auto alone = reshape(vectors[i], column);
    while (alone.ndim() < static_cast<int>(n)) alone = expand_dims(alone, 0);
    const auto grid = options.sparse ? alone : broadcast_to(alone, shape);
    grids.push_back(options.copy ? copy(grid) : grid);
  }
  return grids;
}

DNDarray indices(const Shape& shape, const ArrayOptions& options) {
  const auto each = detail::with_dtype(options, options.dtype.value_or(int64));
  if (shape.empty()) return empty({0}, each);
  Shape whole{std::ssize(shape)};
  whole.insert(whole.end(), shape.begin(), shape.end());
  const auto layout = detail::layout_of("indices", whole, options, comm_of(options.comm));
  std::vector<int> axes(shape.size());
  std::iota(axes.begin(), axes.end(), 1);
  Arrays parts;
  for (const auto axis : axes) parts.push_back(positions_along(axis - 1, layout.along(shape, axes), each));
  return detail::brought_to(stack(parts), layout);
}

DNDarray fromfunction(const std::function<DNDarray(const std::vector<DNDarray>&)>& f, const Shape& shape,
                      const ArrayOptions& options) {
  const auto layout = detail::layout_of("fromfunction", shape, options, comm_of(options.comm));
  std::vector<DNDarray> positions;
  for (int axis = 0; axis < layout.ndim(); ++axis) positions.push_back(positions_along(axis, layout, options));
  return f(positions);
}

DNDarray from_values(const void* values, std::int64_t count, Dtype dtype, const ArrayOptions& options) {
  const auto& comm = comm_of(options.comm);
  const auto all =
      at::from_blob(const_cast<void*>(values), {count}, at::TensorOptions().dtype(detail::to_torch(dtype)));
  const auto layout = detail::layout_of("fromiter", {count}, options, comm);
  const auto block = detail::relayout(detail::wrap(all, layout.replicated({count}), comm), layout).clone();
  return detail::wrap(block.to(detail::to_torch(options.device), detail::to_torch(options.dtype.value_or(dtype))),
                      layout, comm);
}

DNDarray hanning(std::int64_t n, const ArrayOptions& options) { return cosines(n, options, {0.5, 0.5, 0}); }
DNDarray hamming(std::int64_t n, const ArrayOptions& options) { return cosines(n, options, {0.54, 0.46, 0}); }
DNDarray blackman(std::int64_t n, const ArrayOptions& options) { return cosines(n, options, {0.42, 0.5, 0.08}); }
DNDarray bartlett(std::int64_t n, const ArrayOptions& options) {
  return window(n, options, [](const DNDarray& i, double m) { return 1.0 - abs(i * (2 / m) - 1.0); });
}
DNDarray kaiser(std::int64_t n, double beta, const ArrayOptions& options) {
  const auto scale = std::cyl_bessel_i(0.0, std::abs(beta));
  return window(n, options, [&](const DNDarray& i, double m) {
    const auto u = i * (2 / m) - 1.0;
    return i0(beta * sqrt(maximum(1.0 - u * u, 0.0))) / scale;
  });
}

}  // namespace heatpp
