#include "matrices.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/linalg/decompositions/truncated.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/linalg/solvers/iterative.hpp>
#include <heatpp/linalg/solvers/lstsq.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

namespace la = ht::linalg;

TEST_CASE("pseudo-inverses, ranks and conditions", "[linalg][lstsq]") {
  const auto a = scattered({7, 3}), flat = at::matmul(scattered({5, 2}), scattered({2, 4})),
             cube = scattered({2, 4, 3});
  for (const auto& matrix : {a, flat, cube})
    for_each_layout(matrix, [&](const ht::DNDarray& x) {
      CHECK(close(la::pinv(x), at::linalg_pinv(matrix, 1e-12), 1e-10));
      CHECK(same(la::matrix_rank(x), at::linalg_matrix_rank(matrix)));
    });
  const auto square = scattered({4, 4}) + at::eye(4);
  for_each_layout(square, [&](const ht::DNDarray& x) {
    CHECK(close(la::cond(x), at::linalg_cond(square), 1e-10));
    CHECK(close(la::cond(x, -2), at::linalg_cond(square, -2), 1e-10));
    CHECK(close(la::cond(x, 1), at::linalg_cond(square, 1), 1e-10));
    CHECK(close(la::condest(x), at::linalg_cond(square), 1e-10));
    CHECK(la::condest(x).template item<double>() > la::cond(x).template item<double>());
  });
}

TEST_CASE("ranks of square matrices", "[linalg][lstsq]") {
  for (const std::int64_t rank : {1, 4, 7})
    for (const auto type : {at::kFloat, at::kDouble}) {
      const auto a = at::matmul(scattered({8, rank}), scattered({rank, 8})).to(type);
      const auto b = at::cat({a.slice(1, 0, 4), a.slice(1, 0, 4)}, 1);  // equal columns
      for (const auto& layout : every_layout({8, 8})) {
        CHECK(same(la::matrix_rank(distribute(a, layout)), at::linalg_matrix_rank(a)));
        CHECK(same(la::matrix_rank(distribute(b, layout)), at::linalg_matrix_rank(b)));
      }
    }
}

TEST_CASE("ranks by a tolerance, and conditions of singular matrices", "[linalg][lstsq][host]") {
  const auto a = at::diag(at::tensor({4., 2., 1.}, at::kDouble)), singular = at::ones({3, 3}, at::kDouble);
  for_each_layout(a, [&](const auto& x) {
    CHECK(same(la::matrix_rank(x, {.tol = 1.5}), at::scalar_tensor(2, at::kLong)));
    CHECK(same(la::matrix_rank(x, {.rtol = 0.6}), at::scalar_tensor(1, at::kLong)));
    const auto s = distribute(singular, x.layout());
    CHECK(std::isinf(la::cond(s, 1).template item<double>()));
    CHECK(std::isinf(la::condest(s).template item<double>()));
    CHECK(close(la::cond(x, "fro"), at::linalg_cond(a, "fro")));
  });
  CHECK(same(la::matrix_rank(ht::zeros({3}, {.split = 0})), at::scalar_tensor(0, at::kLong)));
  const auto stack = ht::stack(
      {distribute(a, ht::Layout({3, 3}, std::nullopt, ht::world().size())), ht::ones({3, 3}, {.dtype = ht::float64})});
  CHECK(close(la::cond(stack, INFINITY), at::tensor({4., INFINITY}, at::kDouble)));
  for (const auto& layout : every_layout({2, 2}))
    for (const auto ord : {2.0, -2.0, 1.0}) {
      CHECK(std::isinf(la::cond(distribute(at::zeros({2, 2}, at::kDouble), layout), ord).item<double>()));
      const auto of_corner = [&](double corner) {
        const auto x = distribute(at::diag(at::tensor({corner, 1.}, at::kDouble)), layout);
        return la::cond(x, ord).item<double>();
      };
      CHECK(of_corner(INFINITY) == INFINITY);
      CHECK(std::isnan(of_corner(NAN)));
    }
  for (const auto& layout : every_layout({12, 2})) {
    auto tall = at::ones({12, 2}, at::kDouble);
    tall[5][1] = INFINITY;
    CHECK(la::cond(distribute(tall, layout)).item<double>() == INFINITY);
    tall[5][1] = NAN;
    CHECK(std::isnan(la::cond(distribute(tall, layout)).item<double>()));
  }
  for_each_layout(scattered({3, 3}), [&](const auto& x) {
    for (const auto size : {1e-170, 1e160}) {
      CHECK(same(la::matrix_rank(x * size), at::scalar_tensor(3, at::kLong)));
      CHECK(close(la::cond(x * size), at::linalg_cond(scattered({3, 3})), 1e-10));
      CHECK(close(la::pinv(x * size) * size, at::linalg_pinv(scattered({3, 3})), 1e-10));
    }
    const auto infinite = ht::where(ht::eq(x, ht::max(x)), double(INFINITY), x);
    CHECK_THROWS_AS(la::lstsq(infinite, ht::ones({3})), ht::ValueError);
    CHECK_THROWS_AS(la::matrix_rank(infinite), ht::ValueError);
  });
  CHECK_THROWS_AS(la::cond(ht::zeros({2, 0}, {.split = 0})), ht::ValueError);
  CHECK(la::cond(ht::zeros({0, 2, 2}, {.split = 1})).shape() == ht::Shape{0});
}

TEST_CASE("least squares", "[linalg][lstsq][host]") {
  const auto a = scattered({8, 3}), b = scattered({8, 2}) * 3, wide = scattered({3, 6});
  const auto expected = at::matmul(at::linalg_pinv(a), b);
  for_each_pair(a, b, [&](const ht::DNDarray& x, const ht::DNDarray& y) {
    const auto [solution, residuals, rank, s] = la::lstsq(x, y);
    CHECK(close(solution, expected, 1e-11));
    CHECK(close(residuals, (b - at::matmul(a, expected)).square().sum(0), 1e-11));
    CHECK(rank == 3);
    CHECK(close(s, at::linalg_svdvals(a), 1e-11));
  });
  const auto v = scattered({3});
  for_each_pair(wide, v, [&](const ht::DNDarray& x, const ht::DNDarray& y) {
    CHECK(close(la::lstsq(x, y).x, at::mv(at::linalg_pinv(wide), v), 1e-11));
    CHECK(la::lstsq(x, y).residuals.size() == 0);
  });
  const auto single = at::tensor({1.F, 1.F, 1.F, 1.F + 1e-6F, 0.F, 0.F}).reshape({3, 2});
  for (const auto& layout : every_layout({3, 2}))  // rank 2 in float64 only
    CHECK(la::lstsq(distribute(single, layout), ht::ones({3}, {.dtype = ht::float64})).rank == 2);
  CHECK_THROWS_AS(la::lstsq(ht::ones({3, 2}), ht::ones({2})), ht::ValueError);
}

TEST_CASE("conjugate gradients and lanczos", "[linalg][iterative]") {
  const auto root = scattered({9, 9}), a = at::matmul(root, root.t()) + 3 * at::eye(9), b = scattered({9});
  for_each_pair(a, b, [&](const ht::DNDarray& x, const ht::DNDarray& y) {
    CHECK(close(la::cg(x, y, {.rtol = 1e-13}), at::linalg_solve(a, b), 1e-10));
  });
  for_each_layout(a, [&](const ht::DNDarray& x) {
    const auto [v, t] = la::lanczos(x, 9);
    const auto basis = gathered(v);
    CHECK(near_to(at::matmul(basis.t(), basis), at::eye(9, at::kDouble), 0, 1e-12));
    CHECK(near_to(at::matmul(at::matmul(basis, gathered(t)), basis.t()), a, 1e-10, 1e-10));
  });
  CHECK_THROWS_AS(la::lanczos(ht::ones({3, 3}), 4), ht::ValueError);
  CHECK_THROWS_AS(la::cg(ht::ones({3, 3}), ht::ones({4})), ht::ValueError);
}

TEST_CASE("lanczos goes on where a space is exhausted", "[linalg][iterative]") {
  const auto few = at::diag(at::tensor({1., 1., 2., 2., 3.}, at::kDouble)), zero = at::zeros({5, 5}, at::kDouble);
  for (const auto& a : {few, zero, at::eye(5, at::kDouble)})
    for_each_layout(a, [&](const ht::DNDarray& x) {
      const auto [v, t] = la::lanczos(x, 5);
      const auto columns = gathered(v);
      CHECK(near_to(at::mm(columns.t(), columns), at::eye(5, at::kDouble), 0, 1e-12));
      CHECK(near_to(at::mm(at::mm(columns.t(), a), columns), gathered(t), 0, 1e-12));
    });
}

TEST_CASE("exponentials of matrices", "[linalg][iterative]") {
  for (const auto& a : {scattered({5, 5}), scattered({6, 6}) * 4, scattered({2, 3, 3}), at::zeros({4, 4}, at::kDouble)})
    for_each_layout(a, [&](const ht::DNDarray& x) {
      const auto expected = at::linalg_matrix_exp(a);
      const auto y = la::matrix_exp(x);
      CHECK(near_to(y, expected, 1e-9, 1e-11 * expected.abs().max().item<double>()));
    });
}

TEST_CASE("decompositions grow, and are of one sign", "[linalg][truncated]") {
  const auto a = scattered({20, 7});
  for_each_layout(a, [&](const ht::DNDarray& x) {
    const auto all = la::isvd(x(ht::all_of, ht::slice(4, 7)), la::svd(x(ht::all_of, ht::slice(0, 4))), 7);
    CHECK(close(all.s, at::linalg_svdvals(a), 1e-10));
    CHECK(close(ht::matmul(all.u * all.s, all.vh), a, 1e-10));
    CHECK(la::hsvd(x, {.maxrank = 3, .rtol = 1e-9}).s.size() == 3);
    CHECK_THROWS_AS(la::hsvd(x, {}), ht::ValueError);
  });
  const auto few = at::mm(a.slice(1, 0, 3), a.slice(1, 0, 3).t());
  for_each_layout(few, [&](const ht::DNDarray& x) {
    const auto [values, vectors] = la::reigh(x, 3);
    CHECK(close(values, at::linalg_eigvalsh(few).flip(0).slice(0, 0, 3), 1e-9));
    CHECK(close(ht::matmul(vectors * values, ht::transpose(vectors)), few, 1e-9));
    CHECK_THROWS_AS(la::reigh(x, 21), ht::ValueError);
  });
  const auto q = std::get<0>(at::linalg_qr(scattered({20, 4})));
  const auto values = at::tensor({-10., -9., 5., 4.}, at::kDouble), signs = at::mm(q * values, q.t());
  for_each_layout(signs, [&](const ht::DNDarray& x) {
    const auto found = la::reigh(x, 2);
    CHECK(close(found.values, values.slice(0, 0, 2), 1e-10));
    CHECK(
        near_to(at::mm(signs, gathered(found.vectors)), gathered(found.vectors) * gathered(found.values), 1e-9, 1e-9));
  });
}

TEST_CASE("truncated decompositions", "[linalg][truncated]") {
  const auto values = at::pow(at::full({}, 0.3, at::kDouble), at::arange(12));
  const auto u = std::get<0>(at::linalg_qr(scattered({40, 12}))), v = std::get<0>(at::linalg_qr(scattered({30, 12})));
  const auto a = at::matmul(u * values, v.t());
  for_each_layout(a, [&](const ht::DNDarray& x) {
    const auto [left, s, right, error] = la::hsvd_rank(x, 4);
    CHECK(close(s, values.narrow(0, 0, 4).contiguous(), 1e-8));
    CHECK(error == Approx((values.narrow(0, 4, 8).norm() / values.norm()).item<double>()).epsilon(1e-6));
    const auto approximation = at::matmul(gathered(left) * gathered(s), gathered(right));
    CHECK((approximation - a).norm().item<double>() <= 1.01 * error * a.norm().item<double>());

    for (const auto size : {1e-170, 1e160}) {
      const auto other = la::hsvd_rtol(x * size, 1e-2);
      CHECK(other.error == Approx(la::hsvd_rtol(x, 1e-2).error).epsilon(1e-6));
      CHECK(close(ht::matmul(other.u * (other.s / size), other.vh), a, 1e-2));
    }

    const auto tiny = la::hsvd_rank((x * 1e-9).astype(ht::float32), 4);
    CHECK(close(tiny.s * 1e9, values.narrow(0, 0, 4).to(at::kFloat), 1e-5));

    const auto exact = la::hsvd_rtol(x, 1e-3);
    const auto close_one = at::matmul(gathered(exact.u) * gathered(exact.s), gathered(exact.vh));
    CHECK((close_one - a).norm().item<double>() <= 1e-3 * a.norm().item<double>());
    CHECK(exact.s.size() < 12);

    const auto sketched = la::rsvd(x, 3, {.power_iterations = 2});
    CHECK(close(sketched.s, values.narrow(0, 0, 3).contiguous(), 1e-6));
    const auto third = at::matmul(gathered(sketched.u) * gathered(sketched.s), gathered(sketched.vh));
    CHECK(near_to(third, a, 0, 1.1 * values[3].item<double>()));
  });
  CHECK_THROWS_AS(la::hsvd_rank(ht::ones({3, 3}), 0), ht::ValueError);
  CHECK_THROWS_AS(la::rsvd(ht::ones({3, 3}), 4), ht::ValueError);
}
