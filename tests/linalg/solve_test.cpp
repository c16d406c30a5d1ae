#include "matrices.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/linalg/matrices/norm.hpp>
#include <heatpp/linalg/solvers/solve.hpp>

namespace la = ht::linalg;

namespace {

at::Tensor regular(std::int64_t n, at::ScalarType type = at::kDouble) {
  return scattered({n, n}, type) + at::eye(n).roll(1, 0).to(type) * 3;  // needs pivots
}

}  // namespace

TEST_CASE("solve equals LibTorch's for every pair of layouts", "[linalg][solve]") {
  const auto a = regular(5), b = scattered({5, 2}), v = scattered({5});
  for_each_pair(a, b, [&](const auto& x, const auto& y) {
    CHECK(close(la::solve(x, y), at::linalg_solve(a, b), 1e-11));
    CHECK(close(la::solve_triangular(x, y), at::linalg_solve_triangular(a.tril(), b, false), 1e-8));
    CHECK(close(la::solve_triangular(x, y, {.upper = true}), at::linalg_solve_triangular(a.triu(), b, true), 1e-8));
  });
  for_each_pair(a, v, [&](const auto& x, const auto& y) {
    CHECK(close(la::solve(x, y), at::linalg_solve(a, v), 1e-11));
    CHECK(close(la::solve_triangular(x, y, {.unit_diagonal = true}),
                at::linalg_solve_triangular(a.tril(), v.unsqueeze(1), false, true, true).squeeze(1), 1e-8));
  });
}

TEST_CASE("determinants and inverses", "[linalg][solve]") {
  for (const std::int64_t n : {1, 4, 7})
    for (const auto type : {at::kDouble, at::kComplexDouble}) {
      const auto a = regular(n, type);
      for_each_layout(a, [&](const auto& x) {
        CHECK(close(la::det(x), at::linalg_det(a), 1e-9));
        const auto [sign, log] = la::slogdet(x);
        CHECK(close(sign, std::get<0>(at::linalg_slogdet(a)), 1e-11));
        CHECK(close(log, std::get<1>(at::linalg_slogdet(a)), 1e-11));
        const auto inverse = la::inv(x);
        CHECK(close(inverse, at::linalg_inv(a), 1e-10));
        CHECK(inverse.layout() == x.layout());
      });
    }
  const auto singular = at::ones({4, 4}, at::kDouble);
  for_each_layout(singular, [&](const auto& x) {
    CHECK(close(la::det(x), at::zeros({}, at::kDouble)));
    CHECK_THROWS_WITH(la::inv(x), Catch::Contains("singular"));
    CHECK_THROWS_AS(la::solve(x, ht::ones({4}, {.split = 0})), ht::ValueError);
    CHECK_THROWS_AS(la::solve(x, x), ht::LinAlgError);
    CHECK_THROWS_AS(la::cholesky(x), ht::LinAlgError);
  });
}

TEST_CASE("determinants in reach of pivots and products that are not", "[linalg][solve]") {
  for (const auto type : {at::kFloat, at::kDouble, at::kComplexDouble}) {
    const auto far = type == at::kFloat ? 1e30 : 1e200;
    for (const auto& pivots : {at::tensor({far, far, 1 / far, -1 / far}), at::tensor({1 / far, 1 / far, far, -far})})
      for_each_layout(at::diag(pivots.to(type)), [&](const auto& x) {
        CHECK(close(la::det(x), at::full({}, -1, type), type == at::kFloat ? 1e-6 : 1e-12));
      });
  }
}

TEST_CASE("cholesky", "[linalg][solve]") {
  for (const auto type : {at::kDouble, at::kComplexDouble}) {
    const auto root = scattered({6, 6}, type), a = at::matmul(root, root.mH()) + at::eye(6).to(type);
    for_each_layout(a, [&](const auto& x) {
      CHECK(close(la::cholesky(x), at::linalg_cholesky(a), 1e-11));
      CHECK(la::cholesky(x).layout() == x.layout());
    });
    for_each_layout(-a,
                    [&](const auto& x) { CHECK_THROWS_WITH(la::cholesky(x), Catch::Contains("positive definite")); });
  }
}

TEST_CASE("many panels for each rank", "[linalg][solve]") {
  const auto a = regular(301), b = scattered({301, 3}), positive = at::matmul(a, a.t()) + at::eye(301, at::kDouble);
  for (const int split : {0, 1}) {
    const auto x = ht::resplit(ht::from_tensor(a), split);
    CHECK(close(la::solve(x, ht::from_tensor(b)), at::linalg_solve(a, b), 1e-8));
    CHECK(close(la::slogdet(x).logabsdet, std::get<1>(at::linalg_slogdet(a)), 1e-10));
    CHECK(close(la::cholesky(ht::resplit(ht::from_tensor(positive), split)), at::linalg_cholesky(positive), 1e-9));
  }
}

TEST_CASE("stacks of matrices", "[linalg][solve]") {
  const auto a = scattered({3, 4, 4}) + 2 * at::eye(4), b = scattered({3, 4, 2});
  const auto positive = at::matmul(a, a.mT());
  for_each_pair(a, b, [&](const auto& x, const auto& y) {
    CHECK(close(la::solve(x, y), at::linalg_solve(a, b), 1e-9));
    CHECK(close(la::solve_triangular(x, y), at::linalg_solve_triangular(a.tril(), b, false), 1e-8));
  });
  for_each_layout(a, [&](const auto& x) {
    CHECK(close(la::inv(x), at::linalg_inv(a), 1e-9));
    CHECK(close(la::det(x), at::linalg_det(a), 1e-9));
    CHECK(close(la::matrix_power(x, 5), at::linalg_matrix_power(a, 5), 1e-8));
    CHECK(close(la::matrix_power(x, -2), at::linalg_matrix_power(a, -2), 1e-8));
    CHECK(close(la::matrix_power(x, 0), at::linalg_matrix_power(a, 0)));
  });
  for_each_layout(positive, [&](const auto& x) { CHECK(close(la::cholesky(x), at::linalg_cholesky(positive), 1e-9)); });
}

TEST_CASE("stacks of systems broadcast", "[linalg][solve]") {
  const auto a = at::stack({regular(3), regular(3) * 2}), b = scattered({3}), c = scattered({4, 1, 3, 2});
  for_each_layout(a, [&](const auto& x) {
    CHECK(close(la::solve(x, distribute(b, ht::Layout({3}, 0, ht::world().size()))),
                at::linalg_solve(a, b.expand({2, 3}).unsqueeze(-1)).squeeze(-1), 1e-10));
    CHECK(close(la::solve(x, distribute(c, ht::Layout({4, 1, 3, 2}, 2, ht::world().size()))), at::linalg_solve(a, c),
                1e-10));
    CHECK_THROWS_AS(la::solve(x, ht::ones({3, 3, 2})), ht::ValueError);
  });
  for_each_layout(a[0], [&](const auto& x) {
    CHECK(close(la::solve(x, distribute(a, ht::Layout({2, 3, 3}, 0, ht::world().size()))),
                at::linalg_solve(a[0].expand_as(a), a), 1e-10));
  });
}

TEST_CASE("cholesky of the upper triangle", "[linalg][solve]") {
  const auto a = scattered({5, 5}, at::kComplexDouble), positive = at::mm(a, a.mH()) + at::eye(5, at::kComplexDouble);
  for_each_layout(positive.triu(), [&](const auto& x) {
    CHECK(close(la::cholesky(x, {.upper = true}), at::linalg_cholesky(positive).mH(), 1e-10));
    CHECK(la::cholesky(x, {.upper = true}).layout() == x.layout());
  });
}

TEST_CASE("tensorsolve and tensorinv", "[linalg][solve]") {
  const auto a = (scattered({6, 6}) + 2 * at::eye(6)).reshape({2, 3, 6}), b = scattered({2, 3});
  for_each_pair(a, b, [&](const auto& x, const auto& y) {
    CHECK(close(la::tensorsolve(x, y), at::linalg_tensorsolve(a, b), 1e-10));
  });
  for_each_layout(a, [&](const auto& x) { CHECK(close(la::tensorinv(x), at::linalg_tensorinv(a, 2), 1e-10)); });
  CHECK_THROWS_AS(la::tensorsolve(ht::ones({2, 3}), ht::ones({2})), ht::ValueError);
  CHECK_THROWS_AS(la::tensorinv(ht::ones({2, 2}), 3), ht::ValueError);
}

TEST_CASE("systems that are none", "[linalg][solve]") {
  const auto x = ht::ones({4, 3}, {.split = 0}), square = ht::ones({3, 3}, {.split = 1});
  CHECK_THROWS_WITH(la::det(x), Catch::Contains("[det] got an array of shape (4, 3); expected square matrices"));
  CHECK_THROWS_AS(la::solve(square, ht::ones({4})), ht::ValueError);
  CHECK_THROWS_AS(la::solve(square, ht::ones({})), ht::ValueError);
  CHECK_THROWS_AS(la::inv(ht::ones({3})), ht::ValueError);
}

TEST_CASE("pivots that are not a number are positive", "[linalg][solve]") {
  const std::vector<std::vector<double>> matrices{{1, NAN, 2, 3}, {1, 2, 3, NAN}, {3, NAN, 1, 2}, {-3, NAN, 1, 2}};
  const std::vector<double> signs{-1, -1, 1, -1};
  for (std::size_t i = 0; i < signs.size(); ++i)
    for_each_layout(at::tensor(matrices[i], at::kDouble).reshape({2, 2}), [&](const auto& x) {
      const auto [sign, log] = la::slogdet(x);
      CHECK(same(sign, at::full({}, signs[i], at::kDouble)));
      CHECK(same(log, at::full({}, NAN, at::kDouble)));
    });
  for_each_layout(at::tensor({0., 1., 0., double{NAN}}, at::kDouble).reshape({2, 2}), [&](const auto& x) {
    CHECK(same(la::slogdet(x).sign, at::zeros({}, at::kDouble)));
    CHECK(same(la::slogdet(x).logabsdet, at::full({}, -INFINITY, at::kDouble)));
  });
}

TEST_CASE("errors name the function that was called", "[linalg][solve]") {
  for (const auto& layout : every_layout({4, 4})) {
    const auto singular = distribute(at::zeros({4, 4}, at::kDouble), layout);
    CHECK_THROWS_WITH(ht::linalg::solve(singular, ht::ones({4})), Catch::StartsWith("[solve]"));
    CHECK_THROWS_WITH(ht::linalg::inv(singular), Catch::StartsWith("[inv]"));
    CHECK_THROWS_WITH(ht::linalg::matrix_power(singular, -1), Catch::StartsWith("[matrix_power]"));
    CHECK_THROWS_WITH(ht::linalg::tensorinv(singular, 1), Catch::StartsWith("[tensorinv]"));
    CHECK_THROWS_WITH(ht::linalg::norm(singular, {.axis = 3}), Catch::StartsWith("[norm]"));
  }
  const auto nothing = ht::zeros({0, 0}, {.split = 0});
  for (const double order : {-1.0, -2.0})
    CHECK_THROWS_WITH(ht::linalg::matrix_norm(nothing, {.ord = order}), Catch::StartsWith("[matrix_norm]"));
}
