#include <heatpp/ops/calculus/polynomial.hpp>

#include <ATen/ops/linalg_eigvals.h>
#include <ATen/ops/linalg_qr.h>
#include <ATen/ops/linalg_solve_triangular.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/peers/few_ranks.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/ops/calculus/detail/triangle_by_pairs.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>

#include <algorithm>

namespace heatpp {
namespace {

/// Returns all coefficients.
at::Tensor coefficients(const char* op, const DNDarray& p) {
  if (p.ndim() > 1)
    detail::raise<ValueError>(op, "got coefficients of shape {}; expected a vector or a number", to_string(p.shape()));
  return detail::relayout(p, p.layout().replicated(p.shape())).cpu().flatten();
}

/// Returns the coefficients of two polynomials.
std::pair<at::Tensor, at::Tensor> both(const char* op, const DNDarray& a, const DNDarray& b) {
  detail::check_same_comm(op, a.comm(), b.comm());
  return {coefficients(op, a), coefficients(op, b)};
}

/// Returns the coefficients in float64 or complex128.
at::Tensor wide_coefficients(const char* op, const DNDarray& p) {
  return coefficients(op, p).to(is_complex(p.dtype()) ? at::kComplexDouble : at::kDouble);
}

DNDarray polynomial(const at::Tensor& all, const DNDarray& like) {
  return detail::wrap(all, like.layout().replicated({all.numel()}), like.comm());
}

/// Returns both polynomials with as many coefficients as the longer one.
std::pair<DNDarray, DNDarray> of_one_length(const char* op, const DNDarray& a, const DNDarray& b) {
  const auto [p, q] = both(op, a, b);
  const auto size = std::max(p.numel(), q.numel());
  const auto padded = [&](const at::Tensor& all) {
    return polynomial(at::constant_pad_nd(all, {size - all.numel(), 0}, 0), a);
  };
  return {padded(p), padded(q)};
}

/// Returns the product: row i of a strip is `a` moved by i places and multiplied by b[i].
at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
  const auto type =
      detail::to_torch(promote_types(detail::from_torch(a.scalar_type()), detail::from_torch(b.scalar_type())));
  const auto strip = a.to(type), factors = b.to(type);
  auto result = at::zeros({a.numel() + b.numel() - 1}, type);
  for (std::int64_t i = 0; i < b.numel(); ++i) result.narrow(0, i, a.numel()).add_(strip * factors[i]);
  return result;
}

at::Tensor without_leading_zeros(const at::Tensor& p) {
  const auto found = at::nonzero(p);
  return found.numel() == 0 ? p.narrow(0, 0, 0) : p.slice(0, found[0][0].item<std::int64_t>());
}

/// Removes leading coefficients that are 0 up to rounding, as NumPy's remainder; keeps at least one.
at::Tensor without_rounding(const at::Tensor& p) {
  const auto found = at::nonzero(at::logical_not(at::abs(p) <= 1e-8));
  return p.slice(0, found.numel() == 0 ? p.numel() - 1 : found[0][0].item<std::int64_t>());
}

/// Returns the eigenvalues of a matrix that every rank has. LAPACK returns zeros for numbers that are not finite.
at::Tensor eigenvalues(const char* op, const at::Tensor& matrix) {
  if (!at::isfinite(matrix).all().item<bool>())
    detail::raise<ValueError>(op, "got elements or quotients of them that are not finite; expected finite ones");
  return at::linalg_eigvals(matrix);
}

at::Tensor zero(at::ScalarType type) { return at::zeros({1}, type); }

/// Returns the triangle of [powers of x, y] over the points of all ranks.
at::Tensor triangle_of_all(const at::Tensor& rows, const DNDarray& x) {
  const auto width = rows.size(1);
  const auto triangle = [&](const at::Tensor& matrix) {
    const auto tall = at::constant_pad_nd(matrix, {0, 0, 0, std::max<std::int64_t>(0, width - matrix.size(0))}, 0);
    return std::get<1>(at::linalg_qr(tall, "r")).contiguous();
  };
  const auto mine = triangle(rows);
  if (!x.split() || x.comm().size() == 1) return mine;
  if (x.comm().size() > detail::few_ranks) return detail::triangle_by_pairs(mine, x.comm());
  auto all = at::empty({x.comm().size() * width, width}, mine.options());
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(x.comm().size()), mine.numel());
  x.comm().allgather(detail::buffer_of(mine), detail::buffer_of(all), counts);
  return triangle(all);
}

void check_points(const DNDarray& x, const DNDarray& y, int degree, const std::optional<DNDarray>& weights) {
  if (x.ndim() != 1 || y.ndim() < 1 || y.ndim() > 2 || y.shape()[0] != x.size() || degree < 0 || x.size() <= degree)
    detail::raise<ValueError>("polyfit",
                              "got points of shapes {} and {} for degree {}; expected a vector of at least {} and one "
                              "value or one row of them for each",
                              to_string(x.shape()), to_string(y.shape()), degree, degree + 1);
  if (weights && (weights->shape() != x.shape() || is_complex(weights->dtype())))
    detail::raise<ValueError>("polyfit",
                              "got {} weights of shape {} for points of shape {}; expected a real one for each",
                              name(weights->dtype()), to_string(weights->shape()), to_string(x.shape()));
}

/// Returns this rank's rows [powers of x, y], each multiplied by its weight.
at::Tensor rows_to_fit(const DNDarray& x, const DNDarray& y, int degree, const std::optional<DNDarray>& weights) {
  const auto type = is_complex(promote_types(x.dtype(), y.dtype())) ? at::kComplexDouble : at::kDouble;
  const auto xs = x.larray().to(at::kCPU, type);
  std::vector<at::Tensor> columns;
  for (int power = degree; power >= 0; --power) columns.push_back(at::pow(xs, power));
  const auto ys =
      detail::relayout_operand("polyfit", y, x.layout().with(y.shape(), x.split()), x.comm()).to(at::kCPU, type);
  auto rows = at::cat({at::stack(columns, 1), y.ndim() == 1 ? ys.unsqueeze(1) : ys}, 1);
  if (weights) rows.mul_(detail::relayout_operand("polyfit", *weights, x.layout(), x.comm()).cpu().unsqueeze(1));
  return rows;
}

/// Returns the smallest coefficients, as NumPy, if there are several solutions; columns have length 1.
at::Tensor least_squares(const at::Tensor& powers, const at::Tensor& values, double rcond) {
  if (!at::isfinite(powers).all().item<bool>())
    detail::raise<ValueError>("polyfit", "got places or powers of them that are not finite; expected finite ones");
  const auto lengths = at::linalg_vector_norm(powers, 2, {0});
  const auto scale = at::where(lengths > 0, lengths, at::ones({}, lengths.options()));
  if (values.size(1) == 0) return values;
  const auto unknown = at::isfinite(values).all(0).logical_not();
  const auto fitted = std::get<0>(at::linalg_lstsq(powers / scale, values.masked_fill(unknown, 0), rcond, "gelsd"));
  return (fitted / scale.unsqueeze(1)).masked_fill(unknown, NAN);
}

}  // namespace

DNDarray polyval(const DNDarray& p, const DNDarray& x) {
  detail::check_same_comm("polyval", p.comm(), x.comm());
  const auto type = detail::to_torch(promote_types(p.dtype(), x.dtype()));
  const auto all = coefficients("polyval", p).to(x.larray().device(), type);
  auto block = at::zeros(x.lshape(), x.larray().options().dtype(type));
  const auto at_points = x.larray().to(type);
  for (std::int64_t i = 0; i < all.numel(); ++i) block.mul_(at_points).add_(all[i]);
  return detail::wrap(std::move(block), x.layout(), x.comm());
}

DNDarray polyadd(const DNDarray& a, const DNDarray& b) {
  const auto [p, q] = of_one_length("polyadd", a, b);
  return add(p, q);
}
DNDarray polysub(const DNDarray& a, const DNDarray& b) {
  const auto [p, q] = of_one_length("polysub", a, b);
  if (promote_types(p.dtype(), q.dtype()) == bool_)
    detail::raise<TypeError>("polysub", "got coefficients of bool; expected numbers, which can be subtracted");
  return subtract(p, q);
}
DNDarray polymul(const DNDarray& a, const DNDarray& b) {
  const auto factor = [](const at::Tensor& all) {
    const auto p = without_leading_zeros(all);
    return p.numel() > 0 ? p : zero(p.scalar_type());
  };
  const auto [p, q] = both("polymul", a, b);
  return polynomial(product(factor(p), factor(q)), a);
}

std::pair<DNDarray, DNDarray> polydiv(const DNDarray& a, const DNDarray& b) {
  detail::check_same_comm("polydiv", a.comm(), b.comm());
  if (a.size() == 0 || b.size() == 0)
    detail::raise<ValueError>("polydiv", "got coefficients of shapes {} and {}; expected at least one of both",
                              to_string(a.shape()), to_string(b.shape()));
  const auto divisor = without_leading_zeros(wide_coefficients("polydiv", b));
  if (divisor.numel() == 0) detail::raise<ValueError>("polydiv", "got the divisor 0; expected another");
  const auto dividend = wide_coefficients("polydiv", a);
  auto rest = dividend.to(at::result_type(dividend, divisor)).clone();
  const auto count = std::max<std::int64_t>(1, rest.numel() - divisor.numel() + 1);
  auto quotient = at::zeros({count}, rest.options());
  for (std::int64_t i = 0; i + divisor.numel() <= rest.numel(); ++i) {
    quotient[i] = rest[i] / divisor[0];
    rest.narrow(0, i, divisor.numel()).sub_(divisor * quotient[i]);
  }
  const auto length = std::max<std::int64_t>(1, std::min(rest.numel(), divisor.numel() - 1));
  const auto left =
      divisor.numel() == 1 ? zero(rest.scalar_type()) : without_rounding(rest.slice(0, rest.numel() - length));
  return {polynomial(quotient, a), polynomial(left, a)};
}

DNDarray polyder(const DNDarray& p, int m) {
  if (m < 0) detail::raise<ValueError>("polyder", "got m = {}; expected none negative", m);
  if (m == 0) return polynomial(coefficients("polyder", p), p);
  auto all = is_whole(p.dtype()) ? coefficients("polyder", p).to(at::kLong) : wide_coefficients("polyder", p);
  for (; m > 0 && all.numel() > 0; --m)
    all = (all * at::arange(all.numel() - 1, -1, -1, at::kLong)).narrow(0, 0, all.numel() - 1);
  return polynomial(all, p);
}

DNDarray polyint(const DNDarray& p, int m, const std::vector<Scalar>& constants) {
  if (m < 0) detail::raise<ValueError>("polyint", "got m = {}; expected none negative", m);
  const auto given = constants.size();
  if (given > 1 && given < static_cast<std::size_t>(m))
    detail::raise<ValueError>("polyint", "got {} constants for m = {}; expected one for each integration or for all",
                              given, m);
  if (m == 0) return polynomial(coefficients("polyint", p), p);
  auto all = wide_coefficients("polyint", p);
  for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i) {
    const auto constant = given == 0 ? Scalar(0) : constants[std::min(i, given - 1)];
    const auto last =
        at::full({1}, detail::to_torch(constant), constant.is_complex() ? at::kComplexDouble : at::kDouble);
    all = at::cat({all / at::arange(all.numel(), 0, -1, at::kDouble), last});
  }
  return polynomial(all, p);
}

DNDarray poly(const DNDarray& zeros) {
  const auto& shape = zeros.shape();
  if (zeros.ndim() == 2 && shape[0] == shape[1] && shape[0] > 0) {
    const bool complex = is_complex(zeros.dtype());
    const auto matrix = detail::relayout(zeros, zeros.layout().replicated(shape));
    const auto values = eigenvalues("poly", matrix.to(at::kCPU, complex ? at::kComplexDouble : at::kDouble));
    const auto result = poly(polynomial(values, zeros));
    return complex ? result : real(result);
  }
  const auto all = wide_coefficients("poly", zeros);
  if (all.numel() == 0) return full({}, 1.0, {.dtype = float64, .device = zeros.device(), .comm = zeros.comm()});
  auto result = at::ones({1}, all.options());
  for (std::int64_t i = 0; i < all.numel(); ++i)
    result = product(result, at::stack({at::ones({}, all.options()), -all[i]}));
  return polynomial(result, zeros);
}

DNDarray roots(const DNDarray& p) {
  const auto all = without_leading_zeros(wide_coefficients("roots", p));
  const auto inner =
      all.numel() == 0 ? all : without_leading_zeros(all.flip(0)).flip(0);  // zeros at the end are roots that are 0
  const auto n = std::max<std::int64_t>(0, inner.numel() - 1);
  auto companion = at::diag(at::ones({std::max<std::int64_t>(0, n - 1)}, inner.options()), -1);
  if (n > 0) companion[0] = -inner.slice(0, 1) / inner[0];
  auto found = n > 0 ? eigenvalues("roots", companion) : at::empty({0}, at::kComplexDouble);
  return polynomial(at::constant_pad_nd(found, {0, all.numel() - inner.numel()}, 0), p);
}

DNDarray polyfit(const DNDarray& given, const DNDarray& y, int degree, const PolyfitOptions& options) {
  const auto x = detail::one_cut("polyfit", given);
  check_points(x, y, degree, options.weights);
  const auto n = std::int64_t{degree} + 1;
  const auto r = triangle_of_all(rows_to_fit(x, y, degree, options.weights), x).slice(0, 0, n);
  const auto rcond = options.rcond.value_or(static_cast<double>(x.size()) * std::numeric_limits<double>::epsilon());
  auto fitted = least_squares(r.slice(1, 0, n), r.slice(1, n), rcond);
  if (y.ndim() == 1) fitted = fitted.flatten();
  return detail::wrap(fitted, x.layout().replicated(fitted.sizes().vec()), x.comm());
}

}  // namespace heatpp
