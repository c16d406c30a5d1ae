#include <heatpp/linalg/matrices/covariance.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/shape/reshape.hpp>

#include <algorithm>
#include <cmath>

namespace heatpp {

using detail::raise;

namespace {

/// Returns the weights of observations; nullopt if there are none.
std::optional<DNDarray> weights_of(const char* op, const CovOptions& options, std::int64_t observations, Dtype dtype) {
  std::optional<DNDarray> weights;
  for (const auto& given : {options.fweights, options.aweights}) {
    if (!given) continue;
    if (given->shape() != Shape{observations})
      raise<ValueError>(op, "got weights of shape {} for {} observations; expected one for each",
                        to_string(given->shape()), observations);
    if (any(less(*given, 0)).item<bool>()) raise<ValueError>(op, "got weights below 0; expected none");
    const auto values = given->astype(real_type(dtype));
    weights = weights ? *weights * values : values;
  }
  if (const auto& f = options.fweights; f && !is_whole(f->dtype()) && !array_equal(*f, rint(*f)))
    raise<TypeError>(op, "got fweights with fractions; expected whole numbers");
  return weights;
}

/// Returns the divisor of the sum of products as NumPy defines it, for a sum of weights.
double degrees_of_freedom(const char* op, const CovOptions& options, const std::optional<DNDarray>& weights,
                          double total) {
  const auto ddof = options.ddof.value_or(options.bias ? 0 : 1);
  if (ddof != std::trunc(ddof)) raise<ValueError>(op, "got ddof = {}; expected a whole number", ddof);
  if (ddof == 0) return total;
  if (!options.aweights) return total - ddof;
  return total - ddof * sum(*weights * *options.aweights).astype(float64).item<double>() / total;
}

/// Divides each variable by a power of two, so that squares of its deviations stay in the dtype's range.
DNDarray near_one(const DNDarray& data, int axis) {
  if (data.size() == 0) return data;
  const auto sizes = max(abs(data), {.axis = axis, .keepdims = true});
  const auto usable = logical_and(isfinite(sizes), sizes > 0);
  return data / exp2(clip(floor(log2(where(usable, sizes, 1.0))), -1000, 1000));
}

enum class Scale { own, near_one };

DNDarray covariance(const char* op, const DNDarray& x, const CovOptions& options, Scale scale = Scale::own) {
  if (x.ndim() > 2) raise<ValueError>(op, "got an array of shape {}; expected at most two axes", to_string(x.shape()));
  const auto values = x.astype(is_complex(x.dtype()) ? complex128 : float64);
  const auto numbers = values.ndim() == 2 ? values : reshape(values, {values.size()});
  const int axis = numbers.ndim() == 2 && options.rowvar ? 1 : 0;
  const auto data = scale == Scale::own ? numbers : near_one(numbers, axis);
  const auto n = data.shape()[static_cast<std::size_t>(axis)];
  const auto weights = weights_of(op, options, n, values.dtype());
  const auto along = [&](const DNDarray& w) { return axis == 1 || data.ndim() == 1 ? w : reshape(w, {n, 1}); };
  const auto sums = sum(weights ? data * along(*weights) : data, {.axis = axis, .keepdims = true});
  const auto total = weights ? sum(*weights).astype(float64).item<double>() : static_cast<double>(n);
  if (weights && total == 0) raise<ValueError>(op, "got weights that sum to 0; expected another sum");
  const auto deviations = data - sums / total;
  const auto weighted = weights ? deviations * along(*weights) : deviations;
  const auto freedom = std::max(0.0, degrees_of_freedom(op, options, weights, total));
  const auto products = tensordot(weighted, conj(deviations), {{axis}, {axis}}) / freedom;
  return products.size() == 1 ? squeeze(products, std::nullopt) : products;
}

/// Returns one row for each variable.
DNDarray variables(const DNDarray& x, bool rowvar) {
  if (x.ndim() < 2) return expand_dims(x.ndim() == 0 ? flatten(x) : x, 0);
  return rowvar ? x : transpose(x);
}

DNDarray joined(const DNDarray& x, const DNDarray& y, bool rowvar) {
  const bool row = rowvar || (y.ndim() == 2 && y.shape()[0] == 1);  // NumPy never takes these as columns
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

DNDarray cov(const DNDarray& x, const CovOptions& options) {
  return covariance("cov", detail::one_cut("cov", x), options);
}
DNDarray cov(const DNDarray& x, const DNDarray& y, const CovOptions& options) {
  return covariance("cov", joined(detail::one_cut("cov", x), detail::one_cut("cov", y), options.rowvar),
                    by_rows(options));
}

DNDarray corrcoef(const DNDarray& x, const CovOptions& options) {
  return scaled_to_ones(covariance("corrcoef", detail::one_cut("corrcoef", x), options, Scale::near_one));
}
DNDarray corrcoef(const DNDarray& x, const DNDarray& y, const CovOptions& options) {
  return scaled_to_ones(
      covariance("corrcoef", joined(detail::one_cut("corrcoef", x), detail::one_cut("corrcoef", y), options.rowvar),
                 by_rows(options), Scale::near_one));
}

}  // namespace heatpp
