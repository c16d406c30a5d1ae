#include "../../support.hpp"
#include "../vectors.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/ops/calculus/polynomial.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>

TEST_CASE("polynomials calculate as NumPy's", "[ops][polynomial]") {
  const auto p = ht::array({1.0, -6.0, 11.0, -6.0}, {.dtype = ht::float64, .split = 0}),
             q = ht::array({1.0, -1.0}, {.dtype = ht::float64});
  CHECK(same(ht::polyadd(p, q), doubles({1, -6, 12, -7})));
  CHECK(same(ht::polysub(q, p), doubles({-1, 6, -10, 5})));
  CHECK(same(ht::polymul(p, q), doubles({1, -7, 17, -17, 6})));
  const auto [quotient, rest] = ht::polydiv(p, ht::array({1.0, 0.0, 2.0}, {.dtype = ht::float64}));
  CHECK(same(quotient, doubles({1, -6})));
  CHECK(same(rest, doubles({9, 6})));
  CHECK(same(ht::polydiv(p, q).second, doubles({0})));
  CHECK(same(ht::polyder(p), doubles({3, -12, 11})));
  CHECK(same(ht::polyder(p, 4), doubles({})));
  CHECK(same(ht::polyder(ht::array({true, true, false})), at::tensor({2, 1}, at::kLong)));
  CHECK(close(ht::polyint(p), doubles({0.25, -2, 5.5, -6, 0})));
  CHECK(close(ht::polyint(q, 2, {3, 5}), doubles({1. / 6, -0.5, 3, 5})));
  CHECK(close(ht::polyint(q, 2, {std::complex<double>(0, 1)}),
              at::complex(doubles({1. / 6, -0.5, 0, 0}), doubles({0, 0, 1, 1}))));
  CHECK_THROWS_WITH(ht::polyint(q, 3, {1, 2}), Catch::Contains("[polyint] got 2 constants for m = 3"));
  CHECK(same(ht::poly(ht::array({1.0, 2.0, 3.0}, {.dtype = ht::float64})), doubles({1, -6, 11, -6})));
  CHECK(close(ht::roots(p), doubles({3, 2, 1}).to(at::kComplexDouble), 1e-9));
  CHECK(same(ht::roots(ht::array({2.0, 0.0, 0.0})), at::zeros({2}, at::kComplexDouble)));
  CHECK_THROWS_AS(ht::polydiv(p, ht::zeros({2})), ht::ValueError);
  CHECK_THROWS_AS(ht::polyval(ht::ones({2, 2}), p), ht::ValueError);
}

TEST_CASE("polynomials are evaluated and fitted in every layout", "[ops][polynomial]") {
  const auto x = at::linspace(-2, 3, 11, at::kDouble), y = ((x * 0.5 - 1) * x + 2) * x - 3;
  const auto p = ht::array({0.5, -1.0, 2.0, -3.0}, {.dtype = ht::float64, .split = 0});
  for (const auto& layout : every_layout({11})) {
    CHECK(close(ht::polyval(p, distribute(x, layout)), y));
    CHECK(ht::polyval(p, distribute(x, layout)).layout() == layout);
    for (const auto& other : every_layout({11}))
      CHECK(close(ht::polyfit(distribute(x, layout), distribute(y, other), 3), doubles({0.5, -1, 2, -3}), 1e-9));
  }
  CHECK_THROWS_AS(ht::polyfit(ht::ones({3}), ht::ones({3}), 3), ht::ValueError);
}

TEST_CASE("points count as much as their weights", "[ops][polynomial]") {
  // Weights of 0 drop points that are not on the line; the mean of 1, 1, 4 with squared weights 1, 1, 4 is 3.
  const auto x = doubles({0, 1, 2, 3, 4}), y = doubles({1, 3, -7, 7, 90}), weights = at::tensor({1, 2, 0, 1, 0});
  for (const auto& layout : every_layout({5}))
    for (const auto& other : every_layout({5})) {
      const auto line =
          ht::polyfit(distribute(x, layout), distribute(y, layout), 1, {.weights = distribute(weights, other)});
      CHECK(close(line, doubles({2, 1}), 1e-9));
    }
  const auto at_once = ht::arange(3, {.split = 0}), values = ht::array({1, 1, 4}, {.dtype = ht::float64});
  CHECK(close(ht::polyfit(at_once, values, 0, {.weights = ht::array({1, 1, 2})}), doubles({3}), 1e-12));
  CHECK(close(ht::polyfit(at_once, values, 2, {.rcond = 0.9}),
              doubles({0.36355805882492237, 0.6877617805695263, 0.7889463360683481}), 1e-12));  // NumPy's
  CHECK_THROWS_AS(ht::polyfit(at_once, values, 1, {.weights = ht::ones({2})}), ht::ValueError);
}

TEST_CASE("polynomials of numbers that are not finite", "[ops][polynomial]") {
  for (const auto flaw : {NAN, INFINITY})
    for (const auto& layout : every_layout({4})) {
      const auto x = distribute(doubles({1, 2, 3, 4}), layout), flawed = distribute(doubles({1, 2, flaw, 4}), layout);
      CHECK(same(ht::polyfit(x, flawed, 1), doubles({NAN, NAN})));
      CHECK_THROWS_WITH(ht::polyfit(flawed, x, 1), Catch::Contains("[polyfit] got places"));
      CHECK_THROWS_AS(ht::roots(flawed), ht::ValueError);
    }
  const auto values = at::stack({doubles({1, 2, 3}), doubles({1, NAN, 3})}, 1);
  const auto x = ht::array({1.0, 2.0, 3.0}, {.dtype = ht::float64});
  for (const auto& layout : every_layout({3, 2}))
    CHECK(near_to(gathered(ht::polyfit(x, distribute(values, layout), 1)).select(1, 0), doubles({1, 0}), 0, 1e-12));
  CHECK_THROWS_AS(ht::poly(ht::full({2, 2}, NAN, {.split = 0})), ht::ValueError);
}

TEST_CASE("polynomials of whole numbers stay exact", "[ops][polynomial]") {
  const auto p = ht::array({1, 2, 0}), x = ht::arange(4, {.dtype = ht::int64, .split = 0});
  CHECK(same(ht::polyval(p, x), at::tensor({0, 3, 8, 15}, at::kLong)));
  const auto large = std::int64_t{9007199254740993};
  CHECK(same(ht::polyder(ht::array({large, std::int64_t{3}, std::int64_t{1}})),
             at::tensor({2 * large, std::int64_t{3}}, at::kLong)));
  CHECK(same(ht::polymul(ht::array({0, 0, 1, 2}), ht::array({1, 1})), at::tensor({1, 3, 2}, at::kLong)));
  CHECK(same(ht::polymul(ht::zeros({3}, {.dtype = ht::int64}), p), at::zeros({3}, at::kLong)));
  CHECK(same(ht::polysub(p, ht::array({large})), at::tensor({std::int64_t{1}, std::int64_t{2}, -large}, at::kLong)));
}

TEST_CASE("products of polynomials are of both dtypes", "[ops][polynomial]") {
  const auto small = ht::array({100, 1}).astype(ht::int8), wide = ht::array({100, 3});
  CHECK(same(ht::polymul(small, wide), at::tensor({10000, 400, 3}, at::kLong)));
  const auto one = ht::ones({2}, {.dtype = ht::bool_});
  CHECK(same(ht::polysub(one, wide), at::tensor({-99, -2}, at::kLong)));
  CHECK_THROWS_AS(ht::polysub(one, one), ht::TypeError);
}

TEST_CASE("a polynomial through one point is the shortest", "[ops][polynomial]") {
  for (const auto& layout : every_layout({4})) {
    const auto x = distribute(at::ones({4}, at::kDouble), layout), y = x + x;
    const auto fitted = gathered(ht::polyfit(x, y, 1));
    CHECK(near_to(fitted, at::ones({2}, at::kDouble)));
  }
}

TEST_CASE("complex values and columns of values are fitted", "[ops][polynomial]") {
  const auto x = at::linspace(-1, 2, 7, at::kDouble), line = 2 * x - 1, parabola = x * x + 3;
  const auto fits = at::tensor({0., 2., -1., 1., 0., 3.}, at::kDouble).reshape({2, 3});
  for (const auto& layout : every_layout({7}))
    for (const auto& other : every_layout({7, 2})) {
      const auto points = distribute(x, layout);
      CHECK(close(ht::polyfit(points, distribute(at::stack({line, parabola}, 1), other), 2), fits.t(), 1e-9));
      CHECK(close(ht::polyfit(points, distribute(at::complex(line, parabola), layout), 2),
                  at::complex(fits[0], fits[1]), 1e-9));
    }
  CHECK_THROWS_AS(ht::polyfit(ht::ones({3}), ht::ones({2, 3}), 1), ht::ValueError);
}

TEST_CASE("numbers are polynomials, and zero derivatives change nothing", "[ops][polynomial]") {
  const auto number = ht::full({}, 2.0, {.dtype = ht::float64}), q = ht::array({1.0, -1.0}, {.dtype = ht::float64});
  CHECK(same(ht::polyadd(q, number), doubles({1, 1})));
  CHECK(same(ht::polymul(number, q), doubles({2, -2})));
  CHECK(same(ht::polydiv(q, number).first, doubles({0.5, -0.5})));
  const auto bytes = ht::array({3, 2, 1}, {.dtype = ht::int8, .split = 0});
  CHECK(same(ht::polyder(bytes, 0), at::tensor({3, 2, 1}, at::kChar)));
  CHECK(same(ht::polyint(bytes, 0), at::tensor({3, 2, 1}, at::kChar)));
}

TEST_CASE("a division that comes out leaves one number", "[ops][polynomial]") {
  const auto p = ht::array({0.1, 0.7, 0.3}, {.dtype = ht::float64}),
             q = ht::array({0.3, 0.9, 0.7}, {.dtype = ht::float64});
  const auto [quotient, rest] = ht::polydiv(ht::polymul(p, q), q);
  CHECK(close(quotient, doubles({0.1, 0.7, 0.3})));
  CHECK(rest.size() == 1);
}

TEST_CASE("the polynomial of a matrix is its characteristic one", "[ops][polynomial]") {
  const auto global = at::tensor({2., 1., 1., 2.}, at::kDouble).reshape({2, 2});
  for (const auto& layout : every_layout({2, 2})) {
    CHECK(close(ht::poly(distribute(global, layout)), doubles({1, -4, 3})));
    CHECK(close(ht::poly(distribute(at::complex(global, global), layout)),
                at::complex(doubles({1, -4, 0}), doubles({0, -4, 6}))));
  }
  CHECK_THROWS_AS(ht::poly(ht::ones({2, 3})), ht::ValueError);
  CHECK_THROWS_AS(ht::poly(ht::ones({0, 0})), ht::ValueError);
}

TEST_CASE("no roots make the number 1, and no coefficients are not divided", "[ops][polynomial]") {
  const auto one = ht::ones({1}), none = ht::zeros({0}, {.split = 0});
  CHECK(same(ht::poly(none), at::ones({}, at::kDouble)));
  CHECK_THROWS_AS(ht::polydiv(none, one), ht::ValueError);
  CHECK_THROWS_WITH(ht::polydiv(one, none), Catch::Contains("[polydiv] got coefficients of shapes (1,) and (0,)"));
}

TEST_CASE("sums of polynomials keep the parts of complex numbers apart", "[ops][polynomial]") {
  using Complex = std::complex<double>;
  const auto inf = std::numeric_limits<double>::infinity();
  const std::vector<Complex> a{{2, 0}, {-4, 2}, {2, -4}, {inf, 0}, {1, 1}, {2, 2}};
  const std::vector<Complex> b{{inf, 0}, {1, -2}, {3, 0}, {0, -inf}};
  std::vector<Complex> sum(a), difference(a);
  for (std::size_t i = 0; i < b.size(); ++i) {
    sum[i + 2] += b[i];
    difference[i + 2] -= b[i];
  }
  for (const std::optional<int> split : {std::optional<int>{}, std::optional(0)}) {
    const auto x = ht::array(a, {.dtype = ht::complex128, .split = split}), y = ht::array(b, {.dtype = ht::complex128});
    CHECK(ht::polyadd(x, y).to_vector<Complex>() == sum);
    CHECK(ht::polysub(x, y).to_vector<Complex>() == difference);
  }
}

TEST_CASE("no columns of values have no coefficients", "[ops][polynomial]") {
  const auto x = ht::arange(7, {.dtype = ht::float64, .split = 0});
  const auto nothing = ht::zeros({7, 0}, {.dtype = ht::float64, .split = 0});
  CHECK(ht::polyfit(x, nothing, 3).shape() == ht::Shape{4, 0});
}
