#include "matrices.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/linalg/decompositions/qr.hpp>
#include <heatpp/linalg/decompositions/truncated.hpp>
#include <heatpp/linalg/solvers/lstsq.hpp>
#include <heatpp/linalg/solvers/solve.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>

namespace la = ht::linalg;

namespace {

constexpr std::int64_t columns[] = {1, 2, 5};

/// Runs f(x, global) for matrices of `shape` with NaN or an infinity in the first, last, or another row.
template <class F>
void for_each_flawed(const ht::Shape& shape, F f) {
  for (const auto type : {at::kDouble, at::kFloat, at::kComplexDouble})
    for (const double bad : {double{NAN}, double{INFINITY}, -double{INFINITY}})
      for (const auto row : {std::int64_t{0}, shape[0] / 2, shape[0] - 1}) {
        auto a = scattered(shape, type);
        a.select(0, row).select(0, row % shape[1]).fill_(bad);
        for_each_layout(a, [&](const auto& x) { f(x, a); });
      }
}

at::Tensor all_nan(const ht::Shape& shape, at::ScalarType type) { return at::full(shape, NAN, type); }

/// Returns a Hermitian positive definite matrix.
at::Tensor definite(std::int64_t n) {
  const auto root = scattered({n, n});
  return at::matmul(root, root.t()) + 4 * at::eye(n);
}

}  // namespace

TEST_CASE("qr of what is not finite is NaN on every layout", "[linalg][qr]") {
  for (const auto n : columns)
    for (const auto& shape : {ht::Shape{12, n}, {n, 12}, {n, n}})
      for_each_flawed(shape, [&](const auto& x, const auto& a) {
        const auto k = std::min(shape[0], shape[1]);
        const auto [q, r] = la::qr(x);
        CHECK(same(q, all_nan({shape[0], k}, a.scalar_type())));
        CHECK(same(r, all_nan({k, shape[1]}, a.scalar_type()).triu()));
        CHECK(q.split() == x.split());
        CHECK(same(la::qr(x, la::QrMode::r).r, gathered(r)));
        CHECK(same(la::qr(x, la::QrMode::complete).q, all_nan({shape[0], shape[0]}, a.scalar_type())));
      });
}

TEST_CASE("one flawed matrix of a stack leaves the others", "[linalg][qr]") {
  auto a = scattered({4, 5, 3});
  a[2][1][1] = NAN;
  const auto good = at::tensor({0, 1, 3});
  for_each_layout(a, [&](const auto& x) {
    const auto [q, r] = la::qr(x);
    CHECK(near_to(at::matmul(gathered(q), gathered(r)).index_select(0, good), a.index_select(0, good)));
    CHECK(each_is(gathered(q)[2], NAN));
  });
}

TEST_CASE("singular values of what is not finite are refused on every layout", "[linalg][svd]") {
  for (const auto n : columns)
    for (const auto& shape : {ht::Shape{12, n}, {n, 12}, {n, n}})
      for_each_flawed(shape, [&](const auto& x, const auto&) {
        const auto refused = [](const char* op) {
          return Catch::StartsWith(std::string("[") + op + "] got elements that are not finite");
        };
        CHECK_THROWS_WITH(la::svd(x), refused("svd"));
        CHECK_THROWS_WITH(la::svd(x, {.full_matrices = true}), refused("svd"));
        CHECK_THROWS_WITH(la::svdvals(x), refused("svdvals"));
        CHECK_THROWS_WITH(la::norm(x, {.ord = 2}), refused("norm"));
        CHECK_THROWS_WITH(la::matrix_norm(x, {.ord = "nuc"}), refused("matrix_norm"));
        CHECK_THROWS_WITH(la::matrix_rank(x), refused("matrix_rank"));
        CHECK_THROWS_WITH(la::pinv(x), refused("pinv"));
        CHECK_THROWS_WITH(la::lstsq(x, ht::ones({x.shape()[0]})), refused("lstsq"));
        CHECK_THROWS_WITH(la::hsvd(x, {.maxrank = 1}), refused("hsvd"));
        CHECK_THROWS_WITH(la::hsvd_rtol(x, 0.1), refused("hsvd_rtol"));
      });
}

TEST_CASE("eigenvalues of what is not finite are refused on every layout", "[linalg][eigh]") {
  for (const auto n : columns)
    for_each_flawed({n, n}, [&](const auto& x, const auto& a) {
      const auto uplo = at::isfinite(a.tril()).all().template item<bool>() ? la::Triangle::upper : la::Triangle::lower;
      CHECK_THROWS_WITH(la::eigh(x, uplo), Catch::StartsWith("[eigh] got elements that are not finite"));
      CHECK_THROWS_WITH(la::eigvalsh(x, uplo), Catch::StartsWith("[eigvalsh] got elements that are not finite"));
    });
}

TEST_CASE("conditions and determinants of what is not finite", "[linalg][solve]") {
  for (const auto n : columns)
    for_each_flawed({n, n}, [&](const auto& x, const auto& a) {
      const bool nan = at::isnan(a).any().template item<bool>();
      for (const double ord : {2.0, 1.0}) {
        const auto condition = gathered(la::cond(x, ord)).template item<double>();
        CHECK((nan ? std::isnan(condition) : condition == INFINITY));
      }
      const auto det = gathered(la::det(x)), expected = gathered(la::det(ht::resplit(x, std::nullopt)));
      CHECK(equals(at::isfinite(det), at::zeros({}, at::kBool)));
      CHECK(equals(at::isnan(det), at::isnan(expected)));
      if (nan) CHECK(each_is(det, NAN));
    });
}

TEST_CASE("systems that are not finite have solutions of NaN on every layout", "[linalg][solve][host]") {
  for (const auto n : columns)
    for_each_flawed({n, n}, [&](const auto& x, const auto& a) {
      const auto type = a.scalar_type();
      CHECK(same(la::inv(x), all_nan({n, n}, type)));
      for_each_layout(scattered({n, 2}, type), [&](const auto& b) {
        CHECK(same(la::solve(x, b), all_nan({n, 2}, type)));
        CHECK(same(la::solve(x * 0, b), all_nan({n, 2}, type)));
      });
      CHECK(same(la::solve(x, ht::ones({n})), all_nan({n}, type)));
    });
}

TEST_CASE("right sides that are not finite spoil their own column alone", "[linalg][solve]") {
  for (const auto n : columns)
    for (const double bad : {double{NAN}, double{INFINITY}})
      for (const auto row : {std::int64_t{0}, n - 1}) {
        const auto a = definite(n);
        auto b = scattered({n, 3});
        b[row][1] = bad;
        auto expected = at::linalg_solve(a, b);
        expected.select(1, 1).fill_(NAN);
        for_each_pair(a, b, [&](const auto& x, const auto& y) {
          CHECK(close(la::solve(x, y), expected, 1e-11));
          CHECK(close(la::lstsq(x, y).x, expected, 1e-9));
        });
      }
}

TEST_CASE("matrices that are not finite have no Cholesky factor on any layout", "[linalg][solve]") {
  for (const auto n : columns)
    for (const double bad : {double{NAN}, double{INFINITY}})
      for (std::int64_t i = 0; i < n; ++i) {
        auto a = definite(n);
        a[n - 1][i] = bad;
        const auto message = Catch::StartsWith("[cholesky] got a matrix that is not positive definite");
        for_each_layout(a, [&](const auto& x) { CHECK_THROWS_WITH(la::cholesky(x), message); });
        for_each_layout(a.t().contiguous(), [&](const auto& x) {
          CHECK_THROWS_WITH(la::cholesky(x, {.upper = true}), message);
          if (i < n - 1) CHECK(close(la::cholesky(x), at::linalg_cholesky(definite(n)), 1e-12));
        });
      }
}
