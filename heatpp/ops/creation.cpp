#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/creation.hpp>
#include <heatpp/ops/detail/along.hpp>
#include <heatpp/ops/elementwise.hpp>
#include <heatpp/ops/join.hpp>
#include <heatpp/ops/reduce.hpp>
#include <heatpp/ops/reshape.hpp>

#include <cmath>
#include <numbers>

namespace heatpp {
namespace {

ArrayOptions in_float64(ArrayOptions options) {
  options.dtype = float64;
  return options;
}

/// f(i) for i = 0 .. n - 1, where 1 gives the window with one point.
template <class F>
DNDarray window(std::int64_t n, const ArrayOptions& options, F f) {
  const auto i = arange(std::max<std::int64_t>(0, n), in_float64(options));
  const auto values = n == 1 ? i + 1.0 : f(i, static_cast<double>(n - 1));
  return values.astype(options.dtype.value_or(float64));
}

/// a0 - a1 cos(2 pi i / m) + a2 cos(4 pi i / m).
DNDarray cosines(std::int64_t n, const ArrayOptions& options, std::array<double, 3> a) {
  return window(n, options, [&](const DNDarray& i, double m) {
    const auto angle = i * (2 * std::numbers::pi / m);
    return a[0] - a[1] * cos(angle) + a[2] * cos(angle * 2.0);
  });
}

/// By how much the bits of a byte are shifted, along an axis behind `axis` of `x`.
DNDarray shifts(BitOrder order, const DNDarray& x, int axis) {
  Shape shape(static_cast<std::size_t>(x.ndim() - axis), 1);
  shape.front() = 8;
  const auto rising = arange(8, {.dtype = uint8, .comm = x.comm()});
  return reshape(order == BitOrder::little ? rising : flip(rising), shape);
}

/// The positions along one axis of an array, stretched over it.
DNDarray positions_along(const Shape& shape, int axis, const ArrayOptions& options) {
  Shape column(shape.size() - static_cast<std::size_t>(axis), 1);
  column.front() = -1;
  auto alone = options;
  alone.split = std::nullopt;
  const auto stretched = broadcast_to(reshape(arange(shape[static_cast<std::size_t>(axis)], alone), column), shape);
  const Layout layout(shape, options.split, stretched.comm().size());
  return detail::wrap(detail::relayout(stretched, layout), layout, stretched.comm());
}

}  // namespace

DNDarray logspace(double start, double stop, std::int64_t num, const ArrayOptions& options) {
  return power(10.0, linspace(start, stop, num, in_float64(options))).astype(options.dtype.value_or(float32));
}

DNDarray geomspace(double start, double stop, std::int64_t num, const ArrayOptions& options) {
  if (start * stop <= 0)
    detail::raise<ValueError>("geomspace", "got {} .. {}; expected two numbers of one sign, not 0", start, stop);
  const auto sign = start < 0 ? -1.0 : 1.0;
  const auto exponents = linspace(std::log10(std::abs(start)), std::log10(std::abs(stop)), num, in_float64(options));
  return (power(10.0, exponents) * sign).astype(options.dtype.value_or(float32));
}

std::vector<DNDarray> meshgrid(const std::vector<DNDarray>& vectors, Indexing indexing) {
  const auto n = vectors.size();
  const auto axis_of = [&](std::size_t i) { return indexing == Indexing::xy && i < 2 && n > 1 ? 1 - i : i; };
  Shape shape(n);
  for (std::size_t i = 0; i < n; ++i) shape[axis_of(i)] = vectors[i].size();
  std::vector<DNDarray> grids;
  for (std::size_t i = 0; i < n; ++i) {
    Shape column(n - axis_of(i), 1);
    column.front() = -1;
    grids.push_back(broadcast_to(reshape(vectors[i], column), shape));
  }
  return grids;
}

DNDarray indices(const Shape& shape, const ArrayOptions& options) {
  auto each = options;
  each.dtype = options.dtype.value_or(int64);
  const auto split = options.split
                         ? std::optional(sanitize_axis(*options.split, static_cast<int>(shape.size()) + 1, "indices"))
                         : std::nullopt;
  each.split = split && *split > 0 ? std::optional(*split - 1) : std::nullopt;
  Arrays parts;
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) parts.push_back(positions_along(shape, axis, each));
  const auto all = stack(parts);
  return split == 0 ? resplit(all, 0) : all;
}

DNDarray fromfunction(const std::function<DNDarray(const std::vector<DNDarray>&)>& f, const Shape& shape,
                      const ArrayOptions& options) {
  std::vector<DNDarray> positions;
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
    positions.push_back(positions_along(shape, axis, options));
  return f(positions);
}

DNDarray from_values(const void* values, std::int64_t count, Dtype dtype, const ArrayOptions& options) {
  const auto& comm = options.comm ? *options.comm : default_comm();
  const auto all =
      at::from_blob(const_cast<void*>(values), {count}, at::TensorOptions().dtype(detail::to_torch(dtype)));
  const Layout everywhere({count}, std::nullopt, comm.size()), layout({count}, options.split, comm.size());
  const auto block = detail::relayout(detail::wrap(all, everywhere, comm), layout).clone();
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
  const auto scale = std::cyl_bessel_i(0.0, beta);
  return window(n, options, [&](const DNDarray& i, double m) {
    const auto u = i * (2 / m) - 1.0;
    return i0(beta * sqrt(maximum(1.0 - u * u, 0.0))) / scale;
  });
}

DNDarray packbits(const DNDarray& x, std::optional<int> along_axis, BitOrder order) {
  if (!along_axis) return packbits(flatten(x), 0, order);
  const auto axis = sanitize_axis(*along_axis, x.ndim(), "packbits");
  auto shape = x.shape();
  auto& extent = shape[static_cast<std::size_t>(axis)];
  PadWidths widths(shape.size(), {0, 0});
  widths[static_cast<std::size_t>(axis)].second = (8 - extent % 8) % 8;
  extent = (extent + 7) / 8;
  shape.insert(shape.begin() + axis + 1, 8);
  const auto bits = reshape(pad(not_equal(x, 0).astype(uint8), widths), shape);
  return sum(left_shift(bits, shifts(order, x, axis)), axis + 1).astype(uint8);
}

DNDarray unpackbits(const DNDarray& x, std::optional<int> along_axis, BitOrder order) {
  if (!along_axis) return unpackbits(flatten(x), 0, order);
  const auto axis = sanitize_axis(*along_axis, x.ndim(), "unpackbits");
  if (x.dtype() != uint8) detail::raise<TypeError>("unpackbits", "got an array of {}; expected uint8", name(x.dtype()));
  auto shape = x.shape();
  shape[static_cast<std::size_t>(axis)] *= 8;
  return reshape(right_shift(expand_dims(x, axis + 1), shifts(order, x, axis)) & 1, shape);
}

}  // namespace heatpp
