#include "matrices.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/linalg/matrices/covariance.hpp>
#include <heatpp/linalg/matrices/matrix.hpp>
#include <heatpp/linalg/matrices/norm.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/linalg/solvers/lstsq.hpp>
#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/selection/selection.hpp>

namespace la = ht::linalg;

TEST_CASE("vector norms of every order along every axis", "[linalg][norm]") {
  const auto global = scattered({5, 3});
  for_each_layout(global, [&](const auto& x) {
    for (const double ord : {2.0, 1.0, 3.0, 0.5, 0.0, double(INFINITY), -double(INFINITY), -1.0}) {
      CHECK(close(la::vector_norm(x, {.ord = ord}), at::linalg_vector_norm(global, ord)));
      for (const int axis : {0, 1})
        CHECK(close(la::vector_norm(x, {.ord = ord, .axis = axis, .keepdims = true}),
                    at::linalg_vector_norm(global, ord, {axis}, true)));
    }
    CHECK(close(la::norm(x), at::linalg_vector_norm(global)));
    CHECK(close(la::norm(x, {.ord = 1, .axis = -1}), at::linalg_vector_norm(global, 1, {1})));
  });
  for_each_layout(numbers({7}),
                  [&](const auto& x) { CHECK(close(la::norm(x), at::linalg_vector_norm(numbers({7}, at::kDouble)))); });
}

TEST_CASE("norms of complex numbers are those of their parts", "[linalg][norm]") {
  const auto parts = numbers({6, 4, 2}, at::kDouble);
  const auto global = at::view_as_complex(parts.contiguous());
  for_each_layout(global, [&](const auto& x) {
    CHECK(close(la::norm(x), at::linalg_vector_norm(parts)));
    for (const int axis : {0, 1})
      for (const bool keepdims : {false, true})
        CHECK(close(la::vector_norm(x, {.axis = axis, .keepdims = keepdims}),
                    at::linalg_vector_norm(global, 2, {axis}, keepdims)));
    CHECK(close(la::vector_norm(x, {.ord = 1}), at::linalg_vector_norm(global, 1)));
  });
}

TEST_CASE("matrix norms", "[linalg][norm]") {
  const auto global = scattered({4, 3}), cube = scattered({2, 3, 4});
  for_each_layout(global, [&](const auto& x) {
    for (const double ord : {1.0, -1.0, 2.0, -2.0, double(INFINITY), -double(INFINITY)})
      CHECK(close(la::norm(x, {.ord = ord}), at::linalg_matrix_norm(global, ord)));
    CHECK(close(la::norm(x, {.ord = "fro"}), at::linalg_matrix_norm(global, "fro")));
    CHECK(close(la::matrix_norm(x, {.ord = "nuc", .keepdims = true}),
                at::linalg_matrix_norm(global, "nuc", {0, 1}, true)));
  });
  for_each_layout(cube, [&](const auto& x) {
    CHECK(close(la::matrix_norm(x), at::linalg_matrix_norm(cube, "fro")));
    CHECK(close(la::matrix_norm(x, {.ord = 2, .axis = {0, 2}}), at::linalg_matrix_norm(cube, 2, {0, 2})));
    CHECK(close(la::norm(x, {.ord = 1, .axis = {2, 0}, .keepdims = true}),
                at::linalg_matrix_norm(cube, 1, {2, 0}, true)));
    CHECK(close(la::norm(x, {.ord = 2, .axis = {1, 0}, .keepdims = true}),
                at::linalg_matrix_norm(cube, 2, {1, 0}, true)));
    CHECK_THROWS_AS(la::norm(x, {.ord = 1}), ht::ValueError);
    CHECK_THROWS_AS(la::matrix_norm(x, {.axis = {1, 1}}), ht::ValueError);
  });
  CHECK_THROWS_AS(la::norm(ht::ones({2, 2}), {.ord = 3}), ht::ValueError);
  CHECK_THROWS_AS(la::NormOrder("max"), ht::ValueError);
}

TEST_CASE("trace along any diagonal", "[linalg][matrix]") {
  const auto global = numbers({4, 5}), cube = numbers({3, 2, 4});
  for_each_layout(global, [&](const auto& x) {
    for (const int offset : {0, 1, -2, 4, 7, -9})
      CHECK(same(ht::trace(x, {.offset = offset}), global.diagonal(offset).sum()));
  });
  for_each_layout(cube, [&](const auto& x) {
    CHECK(same(ht::trace(x), cube.diagonal(0, 0, 1).sum(-1)));
    CHECK(same(ht::trace(x, {.offset = 1, .axis1 = 2, .axis2 = 0}), cube.diagonal(1, 2, 0).sum(-1)));
    CHECK(same(ht::matrix_transpose(x), cube.mT()));
    CHECK_THROWS_AS(ht::trace(x, {.axis1 = 1, .axis2 = 1}), ht::ValueError);
  });
}

TEST_CASE("cross products", "[linalg][matrix]") {
  const auto a = numbers({5, 3}), b = numbers({5, 3}) * 2 - 3, row = numbers({3}) + 2;
  for_each_pair(a, b, [&](const auto& x, const auto& y) {
    CHECK(same(ht::cross(x, y), at::linalg_cross(a, b)));
    CHECK(same(ht::cross(x, y, {.axisc = 0}), at::linalg_cross(a, b).t()));
  });
  for_each_pair(a.t().contiguous(), row, [&](const auto& x, const auto& y) {
    CHECK(same(ht::cross(x, y, {.axisa = 0}), at::linalg_cross(a, row.expand({5, 3}))));
  });
  const auto flat = numbers({5, 2}), lifted = at::cat({flat, at::zeros({5, 1}, at::kLong)}, 1);
  for_each_pair(a, flat, [&](const auto& x, const auto& y) {
    CHECK(same(ht::cross(x, y), at::linalg_cross(a, lifted)));
    CHECK(same(ht::cross(y, x), at::linalg_cross(lifted, a)));
    CHECK(same(ht::cross(y, y), at::zeros({5}, at::kLong)));
  });
  CHECK_THROWS_AS(ht::cross(ht::ones({4}), ht::ones({3})), ht::ValueError);
}

TEST_CASE("the array API's functions of stacks", "[linalg][matrix]") {
  const auto cube = numbers({3, 4, 3});
  for_each_layout(cube, [&](const auto& x) {
    CHECK(same(la::diagonal(x, 1), cube.diagonal(1, -2, -1)));
    CHECK(same(la::trace(x, -1), cube.diagonal(-1, -2, -1).sum(-1)));
    CHECK(same(la::cross(x, x + 1, 0), at::linalg_cross(cube, cube + 1, 0)));
    CHECK_THROWS_AS(la::cross(x, x, 1), ht::ValueError);
    CHECK_THROWS_AS(la::outer(x, x), ht::ValueError);
  });
}

TEST_CASE("projection and vander", "[linalg][matrix]") {
  const auto a = scattered({7}), b = scattered({7}) + 2;
  for_each_pair(a, b, [&](const auto& x, const auto& y) {
    CHECK(close(ht::projection(x, y), at::dot(a, b) / at::dot(b, b) * b));
  });
  for_each_layout(a, [&](const auto& x) {
    CHECK(close(ht::vander(x), at::vander(a)));
    CHECK(close(ht::vander(x, {.n = 3, .increasing = true}), at::vander(a, 3, true)));
  });
  CHECK_THROWS_AS(ht::projection(ht::ones({2, 2}), ht::ones({2})), ht::ValueError);
}

TEST_CASE("covariances and correlations", "[linalg][matrix][host]") {
  const auto global = scattered({4, 9}), counts = at::arange(1, 10, at::kLong) % 3 + 1;
  const auto weights = scattered({9}).abs() + 0.5;
  for_each_layout(global, [&](const auto& x) {
    CHECK(close(ht::cov(x), at::cov(global)));
    CHECK(close(ht::cov(x, {.rowvar = false}), at::cov(global.t())));
    CHECK(close(ht::cov(x, {.bias = true}), at::cov(global, 0)));
    CHECK(close(ht::cov(x, {.ddof = 2}), at::cov(global, 2)));
    CHECK(close(ht::corrcoef(x), at::corrcoef(global)));
    CHECK(close(ht::cov(ht::take(x, ht::array({0}), 0)), at::cov(global[0])));
    for_each_layout(counts, [&](const auto& w) {
      CHECK(close(ht::cov(x, {.fweights = w, .aweights = ht::from_tensor(weights)}),
                  at::cov(global, 1, counts, weights)));
      CHECK(close(ht::cov(x, {.fweights = w}), at::cov(global, 1, counts)));
    });
    CHECK_THROWS_AS(ht::cov(x, {.fweights = ht::ones({3})}), ht::ValueError);
    CHECK(close(ht::cov(x, {.fweights = ht::ones({9}, {.split = 0})}), at::cov(global)));
    CHECK_THROWS_AS(ht::cov(x, {.fweights = ht::full({9}, 1.5, {.split = 0})}), ht::TypeError);
    CHECK_THROWS_WITH(ht::cov(x, {.ddof = 1.5}), Catch::Contains("[cov] got ddof = 1.5"));
    CHECK_THROWS_AS(ht::cov(x, {.aweights = ht::full({9}, -1.0, {.split = 0})}), ht::ValueError);
  });
  const auto other = scattered({2, 9}) * 2;
  for_each_pair(global, other, [&](const auto& x, const auto& y) {
    CHECK(close(ht::cov(x, y), at::cov(at::cat({global, other}))));
    CHECK(close(ht::corrcoef(x, y), at::corrcoef(at::cat({global, other}))));
    CHECK(close(ht::cov(ht::transpose(x), ht::transpose(y), {.rowvar = false}), at::cov(at::cat({global, other}))));
  });
  for_each_layout(global[0].contiguous(), [&](const auto& x) {
    CHECK(close(ht::cov(x), at::cov(global[0])));
    CHECK(close(ht::corrcoef(x), at::ones({}, at::kDouble)));
  });
}

TEST_CASE("covariances and correlations of numbers whose squares leave the dtype", "[linalg][matrix][host]") {
  const auto near = scattered({3, 40}).to(at::kFloat).to(at::kDouble) + 10;
  for_each_layout((near * 1e-25).to(at::kFloat), [&](const auto& x) {
    const auto wide = gathered(x).to(at::kDouble);
    CHECK(ht::cov(x).dtype() == ht::float64);
    CHECK(close(ht::cov(x) * 1e50, at::cov(wide) * 1e50));
    CHECK(close(ht::corrcoef(x), at::corrcoef(wide * 1e25)));
  });
  for (const double scale : {1e-200, 1e200, 1e-310})
    for_each_layout(near * scale, [&](const auto& x) {
      CHECK(close(ht::corrcoef(x), at::corrcoef(near), scale < 1e-300 ? 1e-3 : 1e-9));
    });
}

TEST_CASE("covariances of single observations and of weights that are 0", "[linalg][matrix][host]") {
  const auto global = scattered({2, 3});
  for_each_layout(global, [&](const auto& x) {
    const auto zero = ht::zeros({3}, {.split = 0});
    CHECK_THROWS_WITH(ht::cov(x, {.aweights = zero}), Catch::Contains("[cov] got weights that sum to 0"));
    CHECK_THROWS_AS(ht::cov(x, {.fweights = zero.astype(ht::int32)}), ht::ValueError);
  });
  const auto a = ht::full({}, 3.0, {.dtype = ht::float64}), b = ht::full({}, 5.0, {.dtype = ht::float64});
  for (const bool rowvar : {true, false}) {
    CHECK(same(ht::cov(a, {.rowvar = rowvar}), at::full({}, NAN, at::kDouble)));
    CHECK(same(ht::cov(a, b, {.rowvar = rowvar}), at::full({2, 2}, NAN, at::kDouble)));
    CHECK(same(ht::cov(a, b, {.rowvar = rowvar, .bias = true}), at::zeros({2, 2}, at::kDouble)));
    CHECK(same(ht::corrcoef(a, b, {.rowvar = rowvar}), at::full({2, 2}, NAN, at::kDouble)));
  }
}

TEST_CASE("matrices without elements have norms of 0", "[linalg][norm]") {
  constexpr double inf = INFINITY;
  for (const ht::Shape& shape : {ht::Shape{3, 0}, {0, 3}, {0, 0}}) {
    for_each_layout(at::zeros(shape), [&](const auto& x) {
      for (const auto& ord : {la::NormOrder(2), la::NormOrder(1), la::NormOrder(inf), la::NormOrder("nuc")})
        CHECK(same(la::norm(x, {.ord = ord}), at::zeros({})));
      CHECK(same(la::norm(x, {.ord = 2, .keepdims = true}), at::zeros({1, 1})));
      CHECK_THROWS_AS(la::norm(x, {.ord = -2}), ht::ValueError);
      // Empty sums are 0; a smallest sum exists only if there are any.
      if (shape[1] > 0) CHECK(same(la::norm(x, {.ord = -1}), at::zeros({})));
      else CHECK_THROWS_AS(la::norm(x, {.ord = -1}), ht::ValueError);
      if (shape[0] > 0) CHECK(same(la::norm(x, {.ord = -inf}), at::zeros({})));
      else CHECK_THROWS_AS(la::norm(x, {.ord = -inf}), ht::ValueError);
    });
  }
  for_each_layout(at::zeros({2, 3, 0}), [&](const auto& x) {
    CHECK(same(la::norm(x, {.ord = 2, .axis = {1, 2}}), at::zeros({2})));
    CHECK(same(la::norm(x, {.ord = "nuc", .axis = {2, 1}}), at::zeros({2})));
  });
  CHECK_THROWS_AS(la::vector_norm(ht::zeros({0, 0}, {.split = 0}), {.ord = -inf, .axis = 1}), ht::ValueError);
}

TEST_CASE("norms of 16-bit floats do not overflow between ranks", "[linalg][norm]") {
  const auto global = at::full({12}, 100, at::kHalf);
  for (const auto& layout : every_layout({12})) {
    CHECK(close(la::norm(distribute(global, layout)), at::linalg_vector_norm(global), 1e-2));
    CHECK(close(la::norm(distribute(global, layout), {.ord = INFINITY}), at::full({}, 100, at::kHalf), 1e-2));
  }
}

TEST_CASE("powers of whole numbers do not overflow in norms", "[linalg][norm]") {
  const auto global = at::tensor({-1, 2, -1000000, 3}, at::kInt);
  for (const auto& layout : every_layout({4}))
    CHECK(close(la::norm(distribute(global, layout), {.ord = 20}), at::full({}, 1e6, at::kDouble), 1e-6));
}

TEST_CASE("numbers have no axis for norms", "[linalg][norm]") {
  const auto x = ht::full({}, -2.0, {.dtype = ht::float64});
  for (const int axis : {0, -1}) {
    CHECK_THROWS_WITH(la::vector_norm(x, {.axis = axis}), Catch::Contains("[vector_norm] got axis"));
    CHECK_THROWS_AS(la::norm(x, {.axis = axis}), ht::IndexError);
    CHECK_THROWS_AS(la::norm(x, {.ord = INFINITY, .axis = axis, .keepdims = true}), ht::IndexError);
  }
  CHECK(same(la::norm(x), at::full({}, 2, at::kDouble)));
}

TEST_CASE("one row of the other variables is one variable", "[linalg][matrix]") {
  const auto column = at::tensor({1., 2., 4.}, at::kDouble).reshape({3, 1}),
             row = at::tensor({3., 1., 0.}, at::kDouble).reshape({1, 3});
  const auto expected = at::tensor({14., -13., -13., 14.}, at::kDouble).reshape({2, 2}) / 6;
  for_each_pair(column, row, [&](const auto& x, const auto& y) {
    CHECK(close(ht::cov(x, y, {.rowvar = false}), expected));
    CHECK(close(ht::corrcoef(x, y, {.rowvar = false}), expected * 6 / 14));
    CHECK(same(ht::cov(y, {.rowvar = false}), at::full({3, 3}, NAN, at::kDouble)));
    CHECK_THROWS_AS(ht::cov(y, y, {.rowvar = false}), ht::ValueError);
  });
}

TEST_CASE("a rank by two tolerances, and powers without memory, are errors", "[linalg][matrix]") {
  CHECK_THROWS_AS(ht::linalg::matrix_rank(ht::eye(4), {.rtol = 0.1, .tol = 0.1}), ht::ValueError);
  for (const std::optional<int> split : {std::optional<int>{}, std::optional(0)})
    CHECK_THROWS_AS(ht::vander(ht::arange(64, {.split = split}), {.n = std::int64_t{1} << 45}), ht::MemoryError);
  CHECK(ht::diag_indices(2, -1).empty());
}
