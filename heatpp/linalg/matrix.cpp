#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/matrix.hpp>
#include <heatpp/linalg/product.hpp>
#include <heatpp/ops/axes_moves.hpp>
#include <heatpp/ops/diagonal.hpp>
#include <heatpp/ops/elementwise.hpp>
#include <heatpp/ops/join.hpp>
#include <heatpp/ops/reduce.hpp>
#include <heatpp/ops/reshape.hpp>

#include <algorithm>

namespace heatpp {
namespace {

using detail::raise;

/// `x` with its vectors along the last axis, which is not split.
DNDarray with_vectors_last(const DNDarray& x, int axis) {
  if (x.ndim() == 0) raise<ValueError>("cross", "got an array without axes; expected vectors");
  const auto moved = moveaxis(x, sanitize_axis(axis, x.ndim(), "cross"), x.ndim() - 1);
  const auto components = moved.shape().back();
  if (components != 2 && components != 3)
    raise<ValueError>("cross", "got vectors with {} components along axis {} of shape {}; expected 2 or 3", components,
                      axis, to_string(x.shape()));
  if (moved.split() != moved.ndim() - 1) return moved;
  const auto others = std::span(moved.shape()).first(moved.shape().size() - 1);
  std::optional<int> longest;
  if (!others.empty()) longest = static_cast<int>(std::ranges::max_element(others) - others.begin());
  return detail::brought_to(moved, Layout(moved.shape(), longest, x.comm().size()));
}

DNDarray component(const DNDarray& x, int which) {
  const Shape shape(x.shape().begin(), x.shape().end() - 1);
  return detail::wrap(x.larray().select(-1, which), x.layout().with(shape, x.split()), x.comm());
}

void check_vectors(const char* op, const DNDarray& x) {
  if (x.ndim() != 1) raise<ValueError>(op, "got an array of shape {}; expected a vector", to_string(x.shape()));
}

}  // namespace

DNDarray trace(const DNDarray& x, const DiagonalOptions& options) { return sum(diagonal(x, options), -1); }

DNDarray cross(const DNDarray& a, const DNDarray& b, const CrossOptions& options) {
  const auto x = with_vectors_last(a, options.axisa), y = with_vectors_last(b, options.axisb);
  const auto minor = [&](int i, int j) {
    return component(x, i) * component(y, j) - component(x, j) * component(y, i);
  };
  const bool flat_x = x.shape().back() == 2, flat_y = y.shape().back() == 2;
  if (flat_x && flat_y) return minor(0, 1);
  // The third component of a vector with two is 0.
  if (flat_y)
    return stack({-(component(x, 2) * component(y, 1)), component(x, 2) * component(y, 0), minor(0, 1)}, options.axisc);
  if (flat_x)
    return stack({component(x, 1) * component(y, 2), -(component(x, 0) * component(y, 2)), minor(0, 1)}, options.axisc);
  return stack({minor(1, 2), minor(2, 0), minor(0, 1)}, options.axisc);
}

DNDarray projection(const DNDarray& a, const DNDarray& b) {
  check_vectors("projection", a);
  check_vectors("projection", b);
  return vdot(b, a) / vdot(b, b) * b;
}

DNDarray vander(const DNDarray& x, const VanderOptions& options) {
  check_vectors("vander", x);
  const auto n = options.n.value_or(x.size());
  if (n < 0) raise<ValueError>("vander", "got n {}; expected n >= 0", n);
  const auto block = x.dtype() == bool_ ? x.larray().to(at::kLong) : x.larray();
  const auto layout = x.layout().with({x.size(), n}, x.split());
  const auto make = [&] { return at::vander(block, n, options.increasing); };
  return detail::wrap(detail::allocated("vander", layout, block.options(), x.comm(), make), layout, x.comm());
}

namespace {

/// The weights of observations, or 1 where there are none.
std::optional<DNDarray> weights_of(const CovOptions& options, std::int64_t observations, Dtype dtype) {
  std::optional<DNDarray> weights;
  for (const auto& given : {options.fweights, options.aweights}) {
    if (!given) continue;
    if (given->shape() != Shape{observations})
      raise<ValueError>("cov", "got weights of shape {} for {} observations; expected one for each",
                        to_string(given->shape()), observations);
    if (any(less(*given, 0)).item<bool>()) raise<ValueError>("cov", "got weights below 0; expected none");
    const auto values = given->astype(real_type(dtype));
    weights = weights ? *weights * values : values;
  }
  if (const auto& f = options.fweights; f && !is_whole(f->dtype()) && !array_equal(*f, rint(*f)))
    raise<TypeError>("cov", "got fweights with fractions; expected whole numbers");
  return weights;
}

/// What the sum of products is divided by, as NumPy defines it, for a sum of weights.
double degrees_of_freedom(const CovOptions& options, const std::optional<DNDarray>& weights, double total) {
  const auto ddof = options.ddof.value_or(options.bias ? 0 : 1);
  if (ddof != std::trunc(ddof)) raise<ValueError>("cov", "got ddof = {}; expected a whole number", ddof);
  if (ddof == 0) return total;
  if (!options.aweights) return total - ddof;
  return total - ddof * sum(*weights * *options.aweights).astype(float64).item<double>() / total;
}

}  // namespace

DNDarray cov(const DNDarray& x, const CovOptions& options) {
  if (x.ndim() > 2)
    raise<ValueError>("cov", "got an array of shape {}; expected at most two axes", to_string(x.shape()));
  if (is_integral(x.dtype())) return cov(x.astype(float64), options).astype(float32);
  const auto values = x.astype(inexact_type(x.dtype()));
  const auto data = values.ndim() == 2 ? values : reshape(values, {values.size()});
  const int axis = data.ndim() == 2 && options.rowvar ? 1 : 0;
  const auto n = data.shape()[static_cast<std::size_t>(axis)];
  const auto weights = weights_of(options, n, values.dtype());
  const auto along = [&](const DNDarray& w) { return axis == 1 || data.ndim() == 1 ? w : reshape(w, {n, 1}); };
  const auto sums = sum(weights ? data * along(*weights) : data, {.axis = axis, .keepdims = true});
  const auto total = weights ? sum(*weights).astype(float64).item<double>() : static_cast<double>(n);
  if (weights && total == 0) raise<ValueError>("cov", "got weights that sum to 0; expected another sum");
  const auto deviations = data - sums / total;
  const auto weighted = weights ? deviations * along(*weights) : deviations;
  const auto freedom = std::max(0.0, degrees_of_freedom(options, weights, total));
  const auto products = tensordot(weighted, conj(deviations), {{axis}, {axis}}) / freedom;
  return products.size() == 1 ? squeeze(products, std::nullopt) : products;
}

namespace {

/// A row for each variable.
DNDarray variables(const DNDarray& x, bool rowvar) {
  if (x.ndim() < 2) return expand_dims(x.ndim() == 0 ? flatten(x) : x, 0);
  return rowvar ? x : transpose(x);
}

DNDarray joined(const DNDarray& x, const DNDarray& y, bool rowvar) {
  const bool row = rowvar || (y.ndim() == 2 && y.shape()[0] == 1);  // which NumPy never takes for columns
  return concatenate({variables(x, rowvar), variables(y, row)}, 0);
}

CovOptions by_rows(CovOptions options) {
  options.rowvar = true;
  return options;
}

DNDarray scaled_to_ones(const DNDarray& c) {
  if (c.ndim() == 0) return c / c;
  const auto variances = diagonal(c);
  const auto scale = sqrt(is_complex(c.dtype()) ? abs(variances) : variances);
  const auto scaled = c / outer(scale, scale);
  return is_complex(c.dtype()) ? scaled : clip(scaled, -1, 1);
}

}  // namespace

DNDarray cov(const DNDarray& x, const DNDarray& y, const CovOptions& options) {
  return cov(joined(x, y, options.rowvar), by_rows(options));
}

DNDarray corrcoef(const DNDarray& x, const CovOptions& options) { return scaled_to_ones(cov(x, options)); }
DNDarray corrcoef(const DNDarray& x, const DNDarray& y, const CovOptions& options) {
  return scaled_to_ones(cov(x, y, options));
}

namespace linalg {

DNDarray cross(const DNDarray& a, const DNDarray& b, int axis) {
  for (const auto& x : {a, b})
    if (const auto n = x.shape()[static_cast<std::size_t>(sanitize_axis(axis, x.ndim(), "cross"))]; n != 3)
      raise<ValueError>("cross", "got vectors with {} components along axis {} of shape {}; expected 3", n, axis,
                        to_string(x.shape()));
  return heatpp::cross(a, b, {axis, axis, axis});
}

}  // namespace linalg
}  // namespace heatpp
