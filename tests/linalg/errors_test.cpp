#include "matrices.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/linalg/decompositions/eig.hpp>
#include <heatpp/linalg/decompositions/qr.hpp>
#include <heatpp/linalg/decompositions/truncated.hpp>
#include <heatpp/linalg/matrices/covariance.hpp>
#include <heatpp/linalg/matrices/matrix.hpp>
#include <heatpp/linalg/products/einsum.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/linalg/solvers/iterative.hpp>
#include <heatpp/linalg/solvers/lstsq.hpp>
#include <heatpp/linalg/solvers/solve.hpp>

namespace la = ht::linalg;

namespace {

/// A function that refuses its arguments, and its name.
struct Refusal {
  std::string name;
  std::function<void(const ht::DNDarray&)> call;
};

#define REFUSES(name, ...)                                               \
  Refusal {                                                              \
#name, [](const ht::DNDarray& x) { static_cast<void>(__VA_ARGS__); } \
  }

/// Checks that every function throws for every layout of `bad`, with its name first.
void check_refusals(const at::Tensor& bad, const std::vector<Refusal>& refusals) {
  for (const auto& [name, call] : refusals)
    for_each_layout(bad, [&, &name = name, &call = call](const auto& x) {
      CAPTURE(name);
      CHECK_THROWS_WITH(call(x), Catch::StartsWith("[" + name + "]"));
    });
}

const ht::DNDarray& other() {
  static const auto array = ht::ones({2, 7});
  return array;
}

}  // namespace

TEST_CASE("functions of matrices that get a vector name themselves", "[linalg][errors]") {
  check_refusals(at::ones({5}, at::kDouble), {REFUSES(qr, la::qr(x)),
                                              REFUSES(svd, la::svd(x)),
                                              REFUSES(svdvals, la::svdvals(x)),
                                              REFUSES(polar, la::polar(x)),
                                              REFUSES(eigh, la::eigh(x)),
                                              REFUSES(eigvalsh, la::eigvalsh(x)),
                                              REFUSES(eig, la::eig(x)),
                                              REFUSES(eigvals, la::eigvals(x)),
                                              REFUSES(hsvd, la::hsvd(x, {.maxrank = 1})),
                                              REFUSES(hsvd, la::hsvd(x, {.rtol = 0.1})),
                                              REFUSES(hsvd_rank, la::hsvd_rank(x, 1)),
                                              REFUSES(hsvd_rtol, la::hsvd_rtol(x, 0.1)),
                                              REFUSES(rsvd, la::rsvd(x, 1)),
                                              REFUSES(reigh, la::reigh(x, 1)),
                                              REFUSES(pinv, la::pinv(x)),
                                              REFUSES(cond, la::cond(x)),
                                              REFUSES(cond, la::cond(x, 1)),
                                              REFUSES(lstsq, la::lstsq(x, x)),
                                              REFUSES(solve, la::solve(x, x)),
                                              REFUSES(solve_triangular, la::solve_triangular(x, x)),
                                              REFUSES(inv, la::inv(x)),
                                              REFUSES(tensorsolve, la::tensorsolve(x, x)),
                                              REFUSES(tensorinv, la::tensorinv(x, 2)),
                                              REFUSES(det, la::det(x)),
                                              REFUSES(slogdet, la::slogdet(x)),
                                              REFUSES(cholesky, la::cholesky(x)),
                                              REFUSES(cholesky, la::cholesky(x, {.upper = true})),
                                              REFUSES(matrix_power, la::matrix_power(x, 2)),
                                              REFUSES(matrix_power, la::matrix_power(x, -2)),
                                              REFUSES(cg, la::cg(x, x)),
                                              REFUSES(lanczos, la::lanczos(x, 1)),
                                              REFUSES(matrix_exp, la::matrix_exp(x)),
                                              REFUSES(matrix_norm, la::matrix_norm(x)),
                                              REFUSES(norm, la::norm(x, {.ord = 2, .axis = {0, 1}})),
                                              REFUSES(norm, la::norm(x, {.ord = "nuc"})),
                                              REFUSES(vector_norm, la::vector_norm(x, {.axis = 3}))});
}

TEST_CASE("functions of square matrices that get others name themselves", "[linalg][errors][host]") {
  check_refusals(scattered({4, 3}), {REFUSES(eigh, la::eigh(x)),
                                     REFUSES(eigvalsh, la::eigvalsh(x)),
                                     REFUSES(eig, la::eig(x)),
                                     REFUSES(eigvals, la::eigvals(x)),
                                     REFUSES(reigh, la::reigh(x, 1)),
                                     REFUSES(cond, la::cond(x, 1)),
                                     REFUSES(solve, la::solve(x, x)),
                                     REFUSES(solve_triangular, la::solve_triangular(x, x)),
                                     REFUSES(inv, la::inv(x)),
                                     REFUSES(tensorinv, la::tensorinv(x, 1)),
                                     REFUSES(tensorsolve, la::tensorsolve(x, ht::ones({4}))),
                                     REFUSES(det, la::det(x)),
                                     REFUSES(slogdet, la::slogdet(x)),
                                     REFUSES(cholesky, la::cholesky(x)),
                                     REFUSES(matrix_power, la::matrix_power(x, 0)),
                                     REFUSES(matrix_power, la::matrix_power(x, -1)),
                                     REFUSES(cg, la::cg(x, ht::ones({4}))),
                                     REFUSES(lanczos, la::lanczos(x, 1)),
                                     REFUSES(matrix_exp, la::matrix_exp(x)),
                                     REFUSES(matrix_exp, la::expm(x)),
                                     REFUSES(rsvd, la::rsvd(x, 4)),
                                     REFUSES(polar, la::polar(ht::matrix_transpose(x))),
                                     REFUSES(lstsq, la::lstsq(x, ht::ones({3}))),
                                     REFUSES(norm, la::norm(x, {.ord = 3})),
                                     REFUSES(matrix_norm, la::matrix_norm(x, {.ord = 3})),
                                     REFUSES(hsvd, la::hsvd(x, {})),
                                     REFUSES(hsvd, la::hsvd(x, {.maxrank = 0})),
                                     REFUSES(hsvd, la::hsvd(x, {.rtol = -1})),
                                     REFUSES(hsvd_rank, la::hsvd_rank(x, 0)),
                                     REFUSES(hsvd_rtol, la::hsvd_rtol(x, -1)),
                                     REFUSES(matrix_rank, la::matrix_rank(x, {.rtol = 1, .tol = 1})),
                                     REFUSES(isvd, la::isvd(x, la::svd(scattered_array({4, 2})), 9)),
                                     REFUSES(isvd, la::isvd(x, la::svd(scattered_array({5, 2})), 1))});
}

TEST_CASE("functions that get matrices without an inverse or a root name themselves", "[linalg][errors]") {
  check_refusals(
      at::zeros({4, 4}, at::kDouble),
      {REFUSES(solve, la::solve(x, ht::ones({4}))), REFUSES(solve, la::solve(x, ht::ones({4, 2}))),
       REFUSES(cond, la::cond(x, 3)), REFUSES(inv, la::inv(x)), REFUSES(tensorinv, la::tensorinv(x, 1)),
       REFUSES(tensorsolve, la::tensorsolve(x, ht::ones({4}))), REFUSES(matrix_power, la::matrix_power(x, -1)),
       REFUSES(cholesky, la::cholesky(x)), REFUSES(cholesky, la::cholesky(x, {.upper = true}))});
}

TEST_CASE("functions that get elements that are not finite name themselves", "[linalg][errors][host]") {
  auto a = scattered({4, 4});
  a[3][0] = NAN;
  check_refusals(a, {REFUSES(svd, la::svd(x)),
                     REFUSES(svd, la::svd(x, {.full_matrices = true})),
                     REFUSES(svdvals, la::svdvals(x)),
                     REFUSES(polar, la::polar(x)),
                     REFUSES(eigh, la::eigh(x)),
                     REFUSES(eigvalsh, la::eigvalsh(x)),
                     REFUSES(eig, la::eig(x)),
                     REFUSES(eigvals, la::eigvals(x)),
                     REFUSES(hsvd, la::hsvd(x, {.maxrank = 1})),
                     REFUSES(hsvd_rank, la::hsvd_rank(x, 1)),
                     REFUSES(hsvd_rtol, la::hsvd_rtol(x, 0.1)),
                     REFUSES(rsvd, la::rsvd(x, 1)),
                     REFUSES(reigh, la::reigh(x, 1)),
                     REFUSES(isvd, la::isvd(x, la::svd(scattered_array({4, 2})), 1)),
                     REFUSES(pinv, la::pinv(x)),
                     REFUSES(matrix_rank, la::matrix_rank(x)),
                     REFUSES(lstsq, la::lstsq(x, ht::ones({4}))),
                     REFUSES(norm, la::norm(x, {.ord = 2})),
                     REFUSES(norm, la::norm(x, {.ord = "nuc"})),
                     REFUSES(matrix_norm, la::matrix_norm(x, {.ord = -2})),
                     REFUSES(cholesky, la::cholesky(x))});
}

TEST_CASE("products of arrays that do not fit name themselves", "[linalg][errors]") {
  check_refusals(scattered({4, 3}), {REFUSES(matmul, ht::matmul(x, other())),
                                     REFUSES(dot, ht::dot(x, other())),
                                     REFUSES(vdot, ht::vdot(x, other())),
                                     REFUSES(vecdot, ht::vecdot(x, other())),
                                     REFUSES(inner, ht::inner(x, other())),
                                     REFUSES(tensordot, ht::tensordot(x, other(), 1)),
                                     REFUSES(tensordot, ht::tensordot(x, other(), {{5}, {0}})),
                                     REFUSES(matvec, ht::matvec(x, other())),
                                     REFUSES(vecmat, ht::vecmat(x, other())),
                                     REFUSES(outer, la::outer(x, x)),
                                     REFUSES(multi_dot, la::multi_dot({x})),
                                     REFUSES(multi_dot, la::multi_dot({x, other(), other()})),
                                     REFUSES(multi_dot, la::multi_dot({x, other()})),
                                     REFUSES(einsum, ht::einsum("ij,jk", {x, other()})),
                                     REFUSES(einsum, ht::einsum("i", {x})),
                                     REFUSES(trace, ht::trace(x, {.axis1 = 0, .axis2 = 0})),
                                     REFUSES(diagonal, ht::diagonal(x, {.axis1 = 4})),
                                     REFUSES(cross, ht::cross(x, ht::ones({4, 7}))),
                                     REFUSES(cross, la::cross(x, other())),
                                     REFUSES(projection, ht::projection(x, x)),
                                     REFUSES(vander, ht::vander(x)),
                                     REFUSES(cov, ht::cov(x, {.ddof = 0.5})),
                                     REFUSES(corrcoef, ht::corrcoef(x, {.ddof = 0.5}))});
}
