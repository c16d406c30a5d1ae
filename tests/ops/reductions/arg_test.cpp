#include "../../support.hpp"

#include <heatpp/ops/calculus/scan.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/reductions/arg.hpp>
#include <heatpp/ops/reductions/moments.hpp>
#include <heatpp/ops/reductions/nan.hpp>
#include <heatpp/ops/reductions/reduce.hpp>

#include <cmath>

TEST_CASE("argmax finds the first of the largest over all layouts", "[ops][arg]") {
  const auto numbers = at::tensor({3, 9, -2, 9, 9, 0, 1, -2, 5, 9, 3, -2, 9, 0, 4}).reshape({5, 3});
  auto broken = numbers.to(at::kFloat).clone();
  broken[3][1] = NAN;
  for (const auto& layout : every_layout({5, 3})) {
    for (const auto type : {at::kInt, at::kLong, at::kFloat, at::kDouble, at::kChar, at::kHalf}) {
      const auto global = numbers.to(type);
      const auto x = distribute(global, layout);
      CHECK(ht::argmax(x).item<std::int64_t>() == 1);
      CHECK(ht::argmin(x).item<std::int64_t>() == 2);
      for (const int axis : {0, 1}) {
        CHECK(same(ht::argmax(x, axis), global.to(at::kDouble).argmax(axis)));
        CHECK(same(ht::argmin(x, {.axis = axis, .keepdims = true}), global.to(at::kDouble).argmin(axis, true)));
      }
    }
    const auto x = distribute(broken, layout);
    CHECK(ht::argmax(x).item<std::int64_t>() == 10);
    CHECK(ht::argmin(x).item<std::int64_t>() == 10);
    CHECK(same(ht::argmax(x, 0), at::tensor({1, 3, 2}, at::kLong)));
    CHECK(ht::nanargmax(x).item<std::int64_t>() == 1);
    CHECK(same(ht::nanargmin(x, {.axis = 1}), at::tensor({2, 2, 1, 2, 1}, at::kLong)));
  }
  for (const auto& layout : every_layout({40'000})) {
    auto global = at::zeros({40'000}, at::kFloat);
    global[12'345] = -3;
    global[39'999] = 2;
    CHECK(ht::argmax(distribute(global, layout)).item<std::int64_t>() == 39'999);
    CHECK(ht::argmin(distribute(global, layout)).item<std::int64_t>() == 12'345);
    CHECK(ht::argmax(distribute(at::zeros({40'000}), layout)).item<std::int64_t>() == 0);
  }
  CHECK_THROWS_AS(ht::argmax(ht::zeros({0, 3}, {.split = 0})), ht::ValueError);
  CHECK_THROWS_AS(ht::argmax(ht::zeros({3}), 1), ht::IndexError);
}

TEST_CASE("reductions leave out NaN", "[ops][nan]") {
  auto global = at::arange(15, at::kDouble).reshape({5, 3}) - 4;
  global[2][1] = NAN;
  global[4][0] = NAN;
  global.select(0, 3).fill_(NAN);
  for (const auto& layout : every_layout({5, 3})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::nansum(x), at::nansum(global)));
    CHECK(same(ht::nansum(x, 1), at::nansum(global, 1)));
    CHECK(same(ht::nanprod(x, 0), at::nan_to_num(global, 1).prod(0)));
    CHECK(same(ht::nanmax(x, 1), at::tensor({-2., 1., 4., NAN, 10.}, at::kDouble)));
    CHECK(same(ht::nanmin(x, 1), at::tensor({-4., -1., 2., NAN, 9.}, at::kDouble)));
    CHECK(close(ht::nanmean(x, 1), at::nanmean(global, 1)));
    // Columns: (-4, -1, 2), (-3, 0, 9) and (-2, 1, 4, 10).
    CHECK(close(ht::nanvar(x, {.axis = 0, .ddof = 1}), at::tensor({9., 39., 26.25}, at::kDouble)));
    CHECK(close(ht::nanstd(x, 0), at::tensor({6., 26., 19.6875}, at::kDouble).sqrt()));
    CHECK(same(ht::nancumsum(x, 0), at::nan_to_num(global).cumsum(0)));
    CHECK(same(ht::nancumprod(x), at::nan_to_num(global, 1).flatten().cumprod(0)));
  }
}

TEST_CASE("averages weigh elements or indices", "[ops][moments][host]") {
  const auto global = at::arange(15, at::kDouble).reshape({5, 3}),
             weights = at::arange(15, at::kDouble).reshape({5, 3}) + 1, rows = at::arange(5, at::kDouble);
  for (const auto& layout : every_layout({5, 3})) {
    const auto x = distribute(global, layout);
    CHECK(close(ht::average(x), global.mean()));
    CHECK(close(ht::average(x, {.axis = 1, .weights = distribute(weights, layout)}),
                (global * weights).sum(1) / weights.sum(1)));
    CHECK(close(ht::average(x, {.axis = 0, .weights = distribute(rows, ht::Layout({5}, 0, ht::world().size()))}),
                (global * rows.unsqueeze(1)).sum(0) / rows.sum()));
    CHECK(ht::allclose(x, x + 1e-9));
    CHECK_FALSE(ht::allclose(x, x + 1));
    CHECK(ht::array_equal(x, distribute(global, ht::Layout({5, 3}, 1, ht::world().size()))));
    CHECK_FALSE(ht::array_equal(x, ht::ones({3})));
    CHECK(ht::array_equiv(x * 0, ht::zeros({3})));
  }
  CHECK_THROWS_AS(ht::average(ht::ones({5, 3}), {.axis = 0, .weights = ht::ones({3})}), ht::ValueError);
}

TEST_CASE("a slice of NaN only has no position", "[ops][arg]") {
  const auto global = at::tensor({1.f, NAN, 2.f, NAN, NAN, NAN}).reshape({3, 2});
  for (const auto& layout : every_layout({3, 2})) {
    const auto x = distribute(global, layout);
    CHECK(ht::nanargmax(x).item<std::int64_t>() == 2);
    CHECK_THROWS_WITH(ht::nanargmax(x, 0), Catch::Contains("[nanargmax] got an array of shape (3, 2)"));
    CHECK_THROWS_AS(ht::nanargmin(x, 1), ht::ValueError);
  }
}
