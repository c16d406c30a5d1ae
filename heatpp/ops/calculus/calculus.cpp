#include <heatpp/ops/calculus/calculus.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/calculus/scan.hpp>
#include <heatpp/ops/elementwise/detail/run_loop.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/detail/assemble.hpp>
#include <heatpp/ops/joining/detail/joined.hpp>
#include <heatpp/ops/operands/detail/as_array.hpp>
#include <heatpp/ops/operands/detail/axis_order.hpp>
#include <heatpp/ops/operands/detail/bisect.hpp>
#include <heatpp/ops/operands/detail/checked_axes.hpp>
#include <heatpp/ops/reductions/detail/reduced.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/detail/along.hpp>
#include <heatpp/ops/shape/reshape.hpp>

#include <functional>
#include <numbers>

namespace heatpp {
namespace {

using detail::along;
using detail::extent_of;

/// Returns on each rank the elements of `x` that lie `step` behind the indices of `layout`, from the given one on.
template <class F>
at::Tensor behind(const DNDarray& x, int axis, std::int64_t step, const Layout& layout, F from) {
  const auto wanted = [&](int rank) {
    return std::vector<detail::Stretch>{{0, layout.offset(rank) + from(rank) + step, layout.offset(rank + 1) + step}};
  };
  const auto takers = [&](const detail::Stretch& some) {
    return std::vector{detail::ranks_over(layout.cut(), some.first - step, some.last - step)};
  };
  return detail::assemble({x}, axis, {wanted, takers});
}

/// Returns the indices from `step` on where `left` has those before. On a grid that is cut along the axis, neighbours
/// send the few that others need.
DNDarray next_to(const DNDarray& left, const DNDarray& x, int axis, std::int64_t step) {
  const auto right = along(x, axis, slice(step, std::nullopt));
  return x.layout().is_grid() ? detail::brought_to(right, left.layout()) : right;
}

/// Returns all indices except the last one, and the ones behind them, in one layout.
std::pair<DNDarray, DNDarray> neighbours(const DNDarray& x, int axis) {
  const auto left = along(x, axis, slice(0, -1));
  if (x.layout().is_grid() || x.split() != axis) return {left, next_to(left, x, axis, 1)};
  const auto right = behind(x, axis, 1, left.layout(), [](int) { return 0; });
  return {left, detail::wrap(right, left.layout(), x.comm())};
}

/// Returns an array that joins `x` along `axis`; a value without axes becomes one index.
DNDarray beside(const DNDarray& x, int axis, const Operand& value) {
  const auto array = detail::as_array(value, {.device = x.device(), .comm = x.comm()});
  auto shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = 1;
  return array.ndim() == 0 ? broadcast_to(array, shape) : array;
}

/// Computes `right` less `left`; for truth values, whether they differ. Complex numbers are subtracted by parts,
/// because LibTorch's product of 1 and an infinite complex number is not a number.
void subtract_into(at::Tensor out, const at::Tensor& right, const at::Tensor& left) {
  if (out.is_complex()) {
    const auto parts = [](const at::Tensor& x) { return at::view_as_real(x.resolve_conj()); };
    return subtract_into(at::view_as_real(out), parts(right), parts(left));
  }
  if (out.scalar_type() == at::kBool) at::ne_out(out, right, left);
  else at::sub_out(out, right, left);
}

/// Subtracts indices `step` apart along the split axis. Only a rank's last few need elements of other ranks.
at::Tensor split_difference(const DNDarray& x, int axis, std::int64_t step, const Layout& layout) {
  const auto inside = [&](int rank) {
    return std::max<std::int64_t>(0, std::min(layout.count(rank), x.layout().count(rank) - step));
  };
  const auto& block = x.larray();
  const auto me = x.comm().rank();
  const auto here = inside(me), edge = layout.count(me) - here;
  const auto order = detail::AxisOrder::in_memory(block);
  const auto sizes = order.permuted(block.narrow(axis, 0, layout.count(me))).sizes().vec();
  auto result = order.restored(at::empty(sizes, block.options()));
  if (here > 0)
    subtract_into(result.narrow(axis, 0, here), block.narrow(axis, step, here), block.narrow(axis, 0, here));
  const auto next = behind(x, axis, step, layout, inside);
  subtract_into(result.narrow(axis, here, edge), next, block.narrow(axis, here, edge));
  return result;
}

DNDarray difference(const DNDarray& x, int axis, std::int64_t step = 1) {
  const auto left = along(x, axis, slice(0, -step));
  if (!x.layout().is_grid() && x.split() == axis)
    return detail::wrap(split_difference(x, axis, step, left.layout()), left.layout(), x.comm());
  const auto right = next_to(left, x, axis, step);
  return x.dtype() == bool_ ? not_equal(right, left) : right - left;
}

/// Returns a vector along `axis` in a shape that broadcasts to arrays with this many axes.
DNDarray along_axis(const DNDarray& vector, int axis, int ndim) {
  if (vector.ndim() != 1) return vector;
  Shape shape(static_cast<std::size_t>(ndim - axis), 1);
  shape.front() = -1;
  return reshape(vector, shape);
}

/// Returns the inner derivative from the slopes on both sides at these distances (Fornberg, Math. Comp. 51, 1988).
DNDarray inner_slopes(const DNDarray& slopes, const DNDarray& distances, int axis) {
  const auto [before, after] = neighbours(slopes, axis);
  const auto [left, right] = neighbours(distances, axis);
  return (right * before + left * after) / (left + right);
}

/// Returns the derivative at an end: the slope there, which is the first of two indices, or its continuation to the end
/// by a parabola through the next index.
DNDarray end_slope(const DNDarray& slopes, const std::optional<DNDarray>& distances, int axis,
                   std::pair<std::int64_t, std::int64_t> indices, int order) {
  const auto at = [&](const DNDarray& x, std::int64_t i) { return along(x, axis, slice(i, i + 1)); };
  const auto at_end = [&](const DNDarray& end, const DNDarray& x) {  // the place of the end, if it is on another rank
    return detail::brought_to(at(x, indices.second), end.layout());
  };
  const auto last = at(slopes, indices.first);
  if (order == 1) return last;
  const auto change = last - at_end(last, slopes);
  if (!distances) return last + change / 2;
  const auto nearest = at(*distances, indices.first);
  return last + change * nearest / (nearest + at_end(nearest, *distances));
}

/// Returns the derivative at both ends and inside, for indices at one distance.
Arrays even_slopes(const DNDarray& x, int axis, double spacing, int order) {
  const auto n = extent_of(x, axis);
  const auto slopes = [&](std::int64_t first, std::int64_t last) {
    return difference(along(x, axis, slice(first, last)), axis) / spacing;
  };
  return {end_slope(slopes(0, order + 1), std::nullopt, axis, {0, 1}, order), difference(x, axis, 2) / (2 * spacing),
          end_slope(slopes(n - order - 1, n), std::nullopt, axis, {order - 1, order - 2}, order)};
}

Arrays slopes_at(const DNDarray& x, int axis, const DNDarray& coordinates, int order) {
  detail::check_same_comm("gradient", x.comm(), coordinates.comm());
  const auto n = extent_of(x, axis);
  if (coordinates.ndim() > 1 || coordinates.size() != n)
    detail::raise<ValueError>("gradient", "got coordinates of shape {} for axis {} with {} indices; expected one each",
                              to_string(coordinates.shape()), axis, n);
  // Distances are exact even if the coordinates, far from 0, would be rounded.
  const auto places = is_integral(coordinates.dtype()) ? coordinates.astype(float64) : coordinates;
  const auto distance = diff(places);
  if (!is_complex(places.dtype())) {
    const auto least = min(distance).item<double>();
    if (least == max(distance).item<double>()) return even_slopes(x, axis, least, order);
  }
  const auto steps = along_axis(distance.astype(x.dtype()), axis, x.ndim());
  const auto slopes = difference(x, axis) / steps, distances = broadcast_to(steps, slopes.shape());
  return {end_slope(slopes, distances, axis, {0, 1}, order), inner_slopes(slopes, distances, axis),
          end_slope(slopes, distances, axis, {n - 2, n - 3}, order)};
}

/// Linear interpolation between points.
class Polygon {
 public:
  Polygon(at::Tensor x, at::Tensor y, const InterpOptions& options)
      : x_tensor_(x.cpu().contiguous()),
        y_tensor_(y.cpu().contiguous()),
        x_(x_tensor_.const_data_ptr<double>()),
        y_(y_tensor_.const_data_ptr<double>()),
        last_(x.numel() - 1),
        left_(options.left.value_or(y_[0])),
        right_(options.right.value_or(y_[last_])),
        brackets_(x_, x.numel()) {}

  double operator()(double x) const {
    if (std::isnan(x)) return x;
    if (x < x_[0]) return left_;
    if (x >= x_[last_]) return x > x_[last_] ? right_ : y_[last_];
    const auto i = brackets_(x);
    if (x == x_[i]) return y_[i];
    const auto slope = (y_[i + 1] - y_[i]) / (x_[i + 1] - x_[i]);
    const auto y = y_[i] + (x - x_[i]) * slope;
    if (!std::isnan(y)) return y;
    // From the other end if infinite values make NaN.
    const auto back = y_[i + 1] + (x - x_[i + 1]) * slope;
    return std::isnan(back) && y_[i] == y_[i + 1] ? y_[i] : back;
  }

 private:
  at::Tensor x_tensor_, y_tensor_;
  const double *x_, *y_;
  std::int64_t last_;
  double left_, right_;
  detail::Brackets<double> brackets_;
};

}  // namespace

DNDarray diff(const DNDarray& array, const DiffOptions& options) {
  if (options.n == 0) return array;
  detail::check_ndim("diff", array, 1);
  const auto axis = sanitize_axis(options.axis, array.ndim(), "diff");
  if (options.n < 0) detail::raise<ValueError>("diff", "got n = {}; expected none negative", options.n);
  Arrays parts{array};
  if (options.prepend) parts.insert(parts.begin(), beside(array, axis, *options.prepend));
  if (options.append) parts.push_back(beside(array, axis, *options.append));
  auto x = parts.size() > 1 ? concatenate(parts, axis) : array;
  for (int i = 0; i < options.n && extent_of(x, axis) > 0; ++i) x = difference(x, axis);
  return x;
}

DNDarray gradient(const DNDarray& array, const GradientOptions& options) {
  if (array.dtype() == bool_) detail::raise<TypeError>("gradient", "got an array of bool; expected numbers");
  if (is_integral(array.dtype())) return gradient(array.astype(float64), options).astype(inexact_type(array.dtype()));
  const auto x = array.astype(inexact_type(array.dtype()));
  const auto axis = sanitize_axis(options.axis, x.ndim(), "gradient");
  const auto n = extent_of(x, axis);
  if (options.edge_order < 1 || options.edge_order > 2 || n <= options.edge_order)
    detail::raise<ValueError>("gradient",
                              "got {} indices along axis {} and edge_order {}; expected an order of 1 or 2 and "
                              "more indices",
                              n, axis, options.edge_order);
  const auto parts = options.coordinates ? slopes_at(x, axis, *options.coordinates, options.edge_order)
                                         : even_slopes(x, axis, options.spacing, options.edge_order);
  return detail::joined("gradient", parts, axis, x.layout());
}

Arrays gradients(const DNDarray& x, const GradientsOptions& options) {
  auto axes = detail::different_axes("gradients", options.axis.values(), x.ndim());
  if (options.axis.all())
    for (int axis = 0; axis < x.ndim(); ++axis) axes.push_back(axis);
  const auto& spacing = options.spacing;
  const bool for_all = spacing.size() == 1 && !(spacing[0].array() && spacing[0].array()->ndim() > 0);
  if (!spacing.empty() && !for_all && spacing.size() != axes.size())
    detail::raise<ValueError>("gradients", "got {} spacings for {} axes; expected one for each, or a distance for all",
                              spacing.size(), axes.size());
  Arrays results;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    GradientOptions along_one{.axis = axes[i], .edge_order = options.edge_order};
    const auto* given = spacing.empty() ? nullptr : &spacing[spacing.size() > 1 ? i : 0];
    if (given && given->array() && given->array()->ndim() == 0) along_one.spacing = given->array()->item<double>();
    else if (given && given->array()) along_one.coordinates = *given->array();
    else if (given) along_one.spacing = given->number().to<double>();
    results.push_back(gradient(x, along_one));
  }
  return results;
}

DNDarray trapezoid(const DNDarray& y, const TrapezoidOptions& options) {
  const auto axis = sanitize_axis(options.axis, y.ndim(), "trapezoid");
  const auto [left, right] = neighbours(y, axis);
  const auto heights = (left + right) / 2.0;
  if (!options.x) return sum(heights, axis) * options.dx;
  const auto& x = *options.x;
  if (x.ndim() == 1) return sum(heights * along_axis(diff(x), axis, y.ndim()), axis);
  return sum(heights * diff(x, {.axis = options.axis}), options.axis);  // and x, too, may have more axes
}

DNDarray interp(const DNDarray& x, const std::pair<DNDarray, DNDarray>& points, const InterpOptions& options) {
  for (const auto& side : {points.first, points.second}) detail::check_same_comm("interp", x.comm(), side.comm());
  const auto everywhere = [&](const DNDarray& vector) {
    return detail::relayout(vector, vector.layout().replicated(vector.shape())).to(at::kDouble).contiguous();
  };
  if (points.first.ndim() != 1 || points.first.shape() != points.second.shape() || points.first.size() == 0)
    detail::raise<ValueError>("interp", "got points of shapes {} and {}; expected two vectors alike, not empty",
                              to_string(points.first.shape()), to_string(points.second.shape()));
  detail::check_real("interp", x.dtype());
  detail::check_real("interp", points.first.dtype(), "points");
  if (is_complex(points.second.dtype())) {
    const auto re = interp(x, {points.first, real(points.second)}, options);
    auto of_imaginary = options;
    for (auto* end : {&of_imaginary.left, &of_imaginary.right})
      if (*end) *end = 0;
    const auto nowhere = options.period ? logical_not(isfinite(x)) : isnan(x);
    const auto im = where(nowhere, 0.0, interp(x, {points.first, imag(points.second)}, of_imaginary));
    return detail::wrap(at::complex(re.larray(), im.larray()), x.layout(), x.comm());
  }
  auto xp = everywhere(points.first), fp = everywhere(points.second), block = x.larray().to(at::kDouble);
  if (options.period) {
    const auto period = std::abs(*options.period);
    if (!(period > 0)) detail::raise<ValueError>("interp", "got period {}; expected a number other than 0", period);
    const auto [rising, order] = at::sort(at::remainder(xp, period));
    fp = fp.index({order});
    xp = at::cat({rising.slice(0, -1) - period, rising, rising.slice(0, 0, 1) + period});
    fp = at::cat({fp.slice(0, -1), fp, fp.slice(0, 0, 1)});
    block = at::remainder(block, period);
  }
  const Polygon polygon(xp, fp, options);
  auto result = detail::runs::map_runs<double, double>(block, [&](const double* in, double* out, std::int64_t n) {
    std::transform(in, in + n, out, std::cref(polygon));
  });
  return detail::wrap(std::move(result), x.layout(), x.comm());
}

DNDarray unwrap(const DNDarray& array, const UnwrapOptions& options) {
  const bool whole = is_integral(array.dtype()) && options.period == std::trunc(options.period);
  if (whole) return round(unwrap(array.astype(float64), options)).astype(array.dtype());
  if (is_integral(array.dtype())) return unwrap(array.astype(float64), options).astype(inexact_type(array.dtype()));
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
