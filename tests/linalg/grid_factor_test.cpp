#include "../core/grids.hpp"
#include "matrices.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/linalg/solvers/detail/grid_factor.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>

namespace {

at::Tensor positive_definite(std::int64_t n, at::ScalarType type) {
  const auto x = scattered({n, n}, type);
  return at::matmul(x, x.mH()) + 2 * at::eye(n, at::kDouble);
}

template <class F>
void for_each_grid_of(const at::Tensor& a, F f) {
  for (const auto& layout : every_grid(shape_of(a)))
    if (layout.is_grid()) f(distribute(a, layout));
}

}  // namespace

TEST_CASE("Cholesky's factor of a matrix on a grid", "[linalg][grid]") {
  for (const auto type : {at::kDouble, at::kComplexDouble})
    for (const std::int64_t n : {1, 4, 7, 12}) {
      const auto a = positive_definite(n, type), l = at::linalg_cholesky(a);
      for_each_grid_of(a, [&](const auto& x) {
        for (const std::int64_t width : {1, 2, 3, 100}) {
          const auto y = ht::detail::cholesky_on_grid(x, width);
          CHECK(y.layout() == x.layout());
          CHECK(close(y, l));
        }
        CHECK(close(ht::linalg::cholesky(x), l));
        CHECK(close(ht::linalg::cholesky(x, {.upper = true}), l.mH()));
      });
    }
}

TEST_CASE("Cholesky on a grid reads the lower triangle, and refuses what is not positive definite", "[linalg][grid]") {
  const auto a = positive_definite(6, at::kDouble);
  const auto spoiled = [&](std::int64_t row, std::int64_t column, double by) {
    auto b = a.clone();
    b[row][column].fill_(by);
    return b;
  };
  for_each_grid_of(a, [&](const auto& x) {
    CHECK(close(ht::linalg::cholesky(distribute(spoiled(1, 4, NAN), x.layout())), at::linalg_cholesky(a)));
    for (const auto& b : {spoiled(4, 1, NAN), spoiled(5, 5, -1), spoiled(0, 0, INFINITY)})
      for (const std::int64_t width : {2, 100})
        CHECK_THROWS_WITH(ht::detail::cholesky_on_grid(distribute(b, x.layout()), width),
                          Catch::Contains("[cholesky] got a matrix that is not positive definite"));
  });
}

TEST_CASE("triangular systems with a matrix on a grid", "[linalg][grid]") {
  for (const auto type : {at::kDouble, at::kComplexDouble})
    for (const std::int64_t n : {1, 5, 8}) {
      const auto a = scattered({n, n}, type) + n * at::eye(n, at::kDouble), b = scattered({n, 3}, type);
      auto sides = every_layout({n, 3});
      const auto grids = every_grid({n, 3});
      sides.insert(sides.end(), grids.begin(), grids.end());
      std::size_t turn = 0;
      for_each_grid_of(a, [&](const auto& x) {
        for (const bool upper : {false, true})
          for (const std::int64_t width : {1, 2, 100}) {
            const auto& layout = sides[turn++ % sides.size()];
            const bool unit = turn % 3 == 0;
            const auto y = ht::detail::solve_triangular_on_grid(x, distribute(b, layout),
                                                                {.upper = upper, .unit_diagonal = unit}, width);
            CHECK(y.layout() == layout);
            CHECK(close(y, at::linalg_solve_triangular(upper ? a.triu() : a.tril(), b, upper, true, unit), 1e-10));
          }
        const auto v = b.select(1, 0).contiguous();
        CHECK(close(ht::linalg::solve_triangular(x, distribute(v, ht::Layout({n}, 0, ht::world().size()))),
                    at::linalg_solve_triangular(a.tril(), v.unsqueeze(1), false).squeeze(1), 1e-10));
      });
    }
}

TEST_CASE("a symmetric positive definite system on a grid is solved by its factor", "[linalg][grid]") {
  const auto a = positive_definite(9, at::kDouble), b = scattered({9, 2});
  for_each_grid_of(a, [&](const auto& x) {
    const auto l = ht::linalg::cholesky(x);
    const auto y = ht::linalg::solve_triangular(l, distribute(b, ht::Layout({9, 2}, 0, ht::world().size())));
    const auto z = ht::linalg::solve_triangular(ht::detail::adjoint_on_grid(l), y, {.upper = true});
    CHECK(close(z, at::linalg_solve(a, b), 1e-9));
  });
}

TEST_CASE("decompositions and solvers recut a matrix on a grid", "[linalg][grid]") {
  const auto a = positive_definite(6, at::kDouble), b = scattered({6, 2});
  for_each_grid_of(a, [&](const auto& x) {
    CHECK(close(ht::linalg::solve(x, on_all(b)), at::linalg_solve(a, b), 1e-9));
    CHECK(close(ht::linalg::inv(x), at::linalg_inv(a), 1e-9));
    CHECK(close(ht::linalg::det(x) / at::linalg_det(a).item<double>(), at::ones({}, at::kDouble), 1e-9));
    CHECK(close(ht::linalg::matrix_power(x, 0), at::eye(6, at::kDouble)));
    CHECK(close(ht::linalg::matrix_power(x, 3), at::linalg_matrix_power(a, 3), 1e-9));
  });
}
