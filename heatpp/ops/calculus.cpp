#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/calculus.hpp>
#include <heatpp/ops/detail/along.hpp>
#include <heatpp/ops/detail/joined.hpp>
#include <heatpp/ops/elementwise.hpp>
#include <heatpp/ops/reduce.hpp>
#include <heatpp/ops/reshape.hpp>
#include <heatpp/ops/scan.hpp>

#include <numbers>

namespace heatpp {
namespace {

using detail::along;
using detail::extent_of;

/// All indices but the last, and the ones that follow them, in one layout.
std::pair<DNDarray, DNDarray> neighbours(const DNDarray& x, int axis) {
  auto left = along(x, axis, slice(0, -1));
  const auto right = along(x, axis, slice(1, std::nullopt));
  return {left, detail::wrap(detail::relayout(right, left.layout()), left.layout(), x.comm())};
}

DNDarray difference(const DNDarray& x, int axis) {
  const auto [left, right] = neighbours(x, axis);
  return x.dtype() == bool_ ? not_equal(right, left) : right - left;
}

/// A vector along `axis` in a shape that broadcasts to arrays with so many axes.
DNDarray along_axis(const DNDarray& vector, int axis, int ndim) {
  if (vector.ndim() != 1) return vector;
  Shape shape(static_cast<std::size_t>(ndim - axis), 1);
  shape.front() = -1;
  return reshape(vector, shape);
}

/// The derivative inside from the slopes on both sides, which lie at these distances (Fornberg, Math. Comp. 51, 1988).
DNDarray inner_slopes(const DNDarray& slopes, const std::optional<DNDarray>& distances, int axis) {
  const auto [before, after] = neighbours(slopes, axis);
  if (!distances) return (before + after) / 2;
  const auto [left, right] = neighbours(*distances, axis);
  return (right * before + left * after) / (left + right);
}

}  // namespace

DNDarray diff(const DNDarray& array, const DiffOptions& options) {
  const auto axis = sanitize_axis(options.axis, array.ndim(), "diff");
  if (options.n < 0) detail::raise<ValueError>("diff", "got n = {}; expected none negative", options.n);
  Arrays parts{array};
  if (options.prepend) parts.insert(parts.begin(), *options.prepend);
  if (options.append) parts.push_back(*options.append);
  auto x = parts.size() > 1 ? concatenate(parts, axis) : array;
  for (int i = 0; i < options.n && extent_of(x, axis) > 0; ++i) x = difference(x, axis);
  return x;
}

DNDarray gradient(const DNDarray& array, const GradientOptions& options) {
  const auto x = array.astype(inexact_type(array.dtype()));
  const auto axis = sanitize_axis(options.axis, x.ndim(), "gradient");
  const auto n = extent_of(x, axis);
  if (n < 2) detail::raise<ValueError>("gradient", "got {} indices along axis {}; expected at least 2", n, axis);
  std::optional<DNDarray> distances;
  if (options.coordinates) distances = along_axis(diff(options.coordinates->astype(x.dtype())), axis, x.ndim());
  const auto slopes = distances ? difference(x, axis) / *distances : difference(x, axis) / options.spacing;
  if (distances) distances = broadcast_to(*distances, slopes.shape());
  const Arrays parts{along(slopes, axis, slice(0, 1)), inner_slopes(slopes, distances, axis),
                     along(slopes, axis, slice(-1, std::nullopt))};
  return detail::joined("gradient", parts, axis, x.layout());
}

DNDarray trapezoid(const DNDarray& y, const TrapezoidOptions& options) {
  const auto axis = sanitize_axis(options.axis, y.ndim(), "trapezoid");
  const auto [left, right] = neighbours(y, axis);
  const auto heights = (left + right) / 2.0;
  if (!options.x) return sum(heights, axis) * options.dx;
  return sum(heights * along_axis(diff(*options.x), axis, y.ndim()), axis);
}

DNDarray interp(const DNDarray& x, const std::pair<DNDarray, DNDarray>& points, const InterpOptions& options) {
  const auto everywhere = [&](const DNDarray& vector) {
    return detail::relayout(vector, vector.layout().replicated(vector.shape())).to(at::kDouble).contiguous();
  };
  if (points.first.ndim() != 1 || points.first.shape() != points.second.shape() || points.first.size() == 0)
    detail::raise<ValueError>("interp", "got points of shapes {} and {}; expected two vectors alike, not empty",
                              to_string(points.first.shape()), to_string(points.second.shape()));
  const auto xp = everywhere(points.first), fp = everywhere(points.second), block = x.larray().to(at::kDouble);
  const auto last = xp.numel() - 1;
  const auto i =
      at::searchsorted(xp, block.contiguous(), false, true).sub(1).clamp(0, std::max<std::int64_t>(0, last - 1));
  const auto j = at::clamp_max(i + 1, last);
  const auto x0 = xp.index({i}), x1 = xp.index({j}), y0 = fp.index({i}), y1 = fp.index({j});
  auto result = y0 + (block - x0) * at::where(x1 > x0, (y1 - y0) / (x1 - x0), at::zeros({}, block.options()));
  const auto value = [&](double v) { return at::full({}, v, block.options()); };
  result = at::where(block < xp[0], value(options.left.value_or(fp[0].item<double>())), result);
  result = at::where(block >= xp[last], fp[last], result);
  result = at::where(block > xp[last], value(options.right.value_or(fp[last].item<double>())), result);
  return detail::wrap(std::move(result), x.layout(), x.comm());
}

DNDarray unwrap(const DNDarray& array, const UnwrapOptions& options) {
  const auto x = array.astype(inexact_type(array.dtype()));
  const auto axis = sanitize_axis(options.axis, x.ndim(), "unwrap");
  if (extent_of(x, axis) < 2) return x;
  const auto half = options.period / 2;
  const auto step = difference(x, axis);
  auto wrapped = remainder(step + half, options.period) - half;
  wrapped = where(logical_and(eq(wrapped, -half), step > 0), half, wrapped);
  const auto correction = where(abs(step) < options.discont.value_or(half), 0.0, wrapped - step);
  const auto first = along(x, axis, slice(0, 1));
  return x + detail::joined("unwrap", {first - first, cumsum(correction, axis)}, axis, x.layout());
}

}  // namespace heatpp
