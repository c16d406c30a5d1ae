#include <heatpp/linalg/solvers/lstsq.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>
#include <heatpp/linalg/decompositions/detail/named.hpp>
#include <heatpp/linalg/matrices/detail/named.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/linalg/solvers/solve.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

#include <algorithm>
#include <cmath>

namespace heatpp::linalg {

using detail::adjoint;

namespace {

/// Returns the error of singular values of matrices of `shape`, relative to the largest one.
double uncertainty(const Shape& shape, Dtype dtype) {
  return static_cast<double>(std::max(shape[shape.size() - 1], shape[shape.size() - 2])) * detail::real_epsilon(dtype);
}

/// Returns which singular values count, for matrices of `shape`.
DNDarray counts(const DNDarray& s, const Shape& shape, std::optional<double> rtol) {
  const auto limit = rtol.value_or(uncertainty(shape, s.dtype()));
  if (s.shape().back() == 0) return s > 0;
  return s > max(s, {.axis = -1, .keepdims = true}) * limit;
}

DNDarray inverse_values(const SVD& parts, const Shape& shape, std::optional<double> rtol) {
  const auto used = counts(parts.s, shape, rtol);
  return where(used, 1.0 / where(used, parts.s, 1.0), 0.0);
}

/// Returns the inverses; singular matrices give infinite elements.
DNDarray inverse_or_infinite(const DNDarray& x) {
  const auto matrix = detail::decomposable(x);
  if (detail::is_local(matrix)) {
    const auto [inverse, info] = at::linalg_inv_ex(matrix.larray());
    return detail::stack_like(matrix, at::where(info.ne(0).unsqueeze(-1).unsqueeze(-1), INFINITY, inverse));
  }
  try {
    return inv(matrix);
  } catch (const ValueError&) {
    return full_like(matrix, INFINITY);
  }
}

/// Returns the condition of matrices of these norms: 0 times infinity, and 0 / 0, become infinite.
DNDarray infinite_where_singular(const DNDarray& condition, const DNDarray& norm) {
  return where(logical_and(isnan(condition), logical_not(isnan(norm))), double(INFINITY), condition);
}

/// Returns the quotients of singular values.
DNDarray quotient(const DNDarray& x, const NormOrder& ord) {
  const auto s = detail::named::svdvals("cond", x), largest = max(s, -1), smallest = min(s, -1);
  return infinite_where_singular(ord.number() > 0 ? largest / smallest : smallest / largest, largest);
}

/// Returns 1 for matrices with infinite elements, 2 for those with NaN, which have no singular values, else 0.
DNDarray flaws(const DNDarray& x) {
  return max(where(isnan(x), 2, isinf(x).astype(uint8)), {.axis = {-2, -1}, .keepdims = true});
}

/// Returns the conditions of any matrices. Zeros, which LAPACK accepts, have infinite ones, too.
DNDarray of_any_matrices(const DNDarray& x, const NormOrder& ord) {
  const auto flaw = flaws(x);
  return where(eq(squeeze(flaw, {-2, -1}), 2), double(NAN), quotient(where(eq(flaw, 0), x, 0), ord));
}

/// The decomposition itself finds out whether all is finite, which saves a pass and a message for a cut matrix.
DNDarray of_cut_matrix(const DNDarray& x, const NormOrder& ord) {
  try {
    if (const auto condition = quotient(x, ord); !isnan(condition).item<bool>()) return condition;
  } catch (const Error&) {  // rethrown if the elements were not the reason
  }
  return of_any_matrices(x, ord);
}

/// Changes `b` so that a column with an element that is not finite gives NaN in products.
DNDarray nan_for_infinite(const DNDarray& b) { return is_whole(b.dtype()) ? b : where(isfinite(b), b, double(NAN)); }

}  // namespace

DNDarray pinv(const DNDarray& x, std::optional<double> rtol) {
  detail::check_matrices("pinv", x);
  const auto parts = detail::named::svd("pinv", x);
  const auto inverse = expand_dims(inverse_values(parts, x.shape(), rtol), -2);
  return matmul(adjoint(parts.vh) * inverse, adjoint(parts.u));
}

DNDarray matrix_rank(const DNDarray& array, const RankOptions& options) {
  const auto x = detail::one_cut("matrix_rank", array);
  if (options.rtol && options.tol)
    detail::raise<ValueError>("matrix_rank", "got rtol {} and tol {}; expected one of both", *options.rtol,
                              *options.tol);
  if (x.ndim() < 2) return any(x).astype(int64);
  const auto s = detail::named::svdvals("matrix_rank", x);
  return sum(options.tol ? s > *options.tol : counts(s, x.shape(), options.rtol), -1);
}

DNDarray cond(const DNDarray& array, const NormOrder& ord) {
  const auto x = detail::one_cut("cond", array);
  detail::check_matrices("cond", x);
  if (std::ranges::count(std::span(x.shape()).last(2), 0) > 0)
    detail::raise<ValueError>("cond", "got matrices of shape {}; expected some elements", to_string(x.shape()));
  const bool by_values = ord.kind() == NormOrder::Kind::number && std::abs(ord.number()) == 2;
  if (!by_values) {
    detail::check_matrices("cond", x, true);
    const auto norm = [&](const DNDarray& y) { return detail::named::matrix_norm("cond", y, {.ord = ord}); };
    const auto size = norm(x);
    return infinite_where_singular(size * norm(inverse_or_infinite(x)), size);
  }
  const auto matrix = detail::decomposable(x);
  return detail::is_local(matrix) ? of_any_matrices(matrix, ord) : of_cut_matrix(matrix, ord);
}

DNDarray condest(const DNDarray& x) {
  const auto condition = cond(x);
  const auto off = uncertainty(x.shape(), condition.dtype());
  const auto share = condition * off;
  return where(share < 1, condition * (1 + off) / (1 - share), condition + double(INFINITY));
}

LeastSquares lstsq(const DNDarray& matrix, const DNDarray& right, std::optional<double> rtol) {
  const auto b = nan_for_infinite(detail::one_cut("lstsq", right));
  const auto a = detail::one_cut("lstsq", matrix).astype(promote_types(matrix.dtype(), b.dtype()));
  if (a.ndim() != 2 || b.ndim() < 1 || b.ndim() > 2 || a.shape()[0] != b.shape()[0])
    detail::raise<ValueError>("lstsq",
                              "got arrays of shapes {} and {}; expected a matrix and as many rows of right sides",
                              to_string(a.shape()), to_string(b.shape()));
  const auto parts = detail::named::svd("lstsq", a);
  const auto inverse = inverse_values(parts, a.shape(), rtol);
  const auto coordinates = matmul(adjoint(parts.u), b);
  const auto scaled = coordinates * (b.ndim() == 1 ? inverse : expand_dims(inverse, 1));
  auto x = matmul(adjoint(parts.vh), parts.vh.split() ? scaled : resplit(scaled, std::nullopt));
  const auto rank = sum(counts(parts.s, a.shape(), rtol)).item<std::int64_t>();
  auto residuals = empty({0}, {.dtype = real_type(x.dtype()), .device = a.device(), .comm = a.comm()});
  if (rank == a.shape()[1] && a.shape()[0] > a.shape()[1]) {
    const auto error = square(abs(b - matmul(a, x)));
    residuals = sum(b.ndim() == 1 ? expand_dims(error, 1) : error, 0);
  }
  return {std::move(x), std::move(residuals), rank, parts.s};
}

}  // namespace heatpp::linalg
