#include "../../support.hpp"
#include "../vectors.hpp"

#include <heatpp/ops/calculus/calculus.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/indexing/part.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/joining/repeat.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/padding/pad.hpp>
#include <heatpp/ops/selection/selection.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/shape/reshape.hpp>
#include <heatpp/ops/statistics/order.hpp>

#include <limits>

TEST_CASE("arrays of any two layouts are joined along any axis", "[ops][join]") {
  const auto x = at::arange(15).reshape({5, 3});
  for (const std::int64_t extent : {1, 4})
    for (const int axis : {0, 1}) {
      const auto y =
          100 + (axis == 0 ? at::arange(3 * extent).reshape({extent, 3}) : at::arange(5 * extent).reshape({5, extent}));
      for (const auto& layout : every_layout({5, 3}))
        for (const auto& other : every_layout({y.size(0), y.size(1)})) {
          const auto a = distribute(x, layout), b = distribute(y, other);
          CHECK(same(ht::concatenate({a, b, a}, axis), at::cat({x, y, x}, axis)));
          CHECK(same(ht::concatenate({b, a}, axis), at::cat({y, x}, axis)));
          CHECK(same(ht::concatenate({ht::transpose(b), ht::transpose(a)}, 1 - axis), at::cat({y, x}, axis).t()));
        }
    }
}

TEST_CASE("columns of any layout are rolled and tiled", "[ops][join]") {
  const auto x = at::arange(28).reshape({7, 4});
  for (const auto& layout : every_layout({7, 4})) {
    const auto a = distribute(x, layout);
    for (const int axis : {0, 1})
      for (const std::int64_t shift : {-5, 1, 2, 3}) CHECK(same(ht::roll(a, shift, axis), at::roll(x, shift, axis)));
    CHECK(same(ht::tile(a, {1, 3}), x.repeat({1, 3})));
    CHECK(same(ht::tile(a, {2, 1}), x.repeat({2, 1})));
    CHECK(same(ht::diff(a, {.axis = 1}), at::diff(x, 1, 1)));
    CHECK(same(ht::trapezoid(a, {.axis = 1}), at::trapezoid(x.to(at::kDouble), 1.0, 1)));
  }
}

TEST_CASE("blocks are nested as deep as one likes", "[ops][join]") {
  const auto a = at::arange(4).reshape({2, 2}), row = at::cat({a, a + 10}, 1);
  for (const auto& layout : every_layout({2, 2})) {
    const auto x = distribute(a, layout);
    CHECK(same(ht::block({x, x + 10}), row));
    CHECK(same(ht::block({{x, x + 10}, {x + 10, x}}), at::cat({row, at::cat({a + 10, a}, 1)})));
    CHECK(same(ht::block({{{x, x + 10}}, {{x, x}}}), at::stack({row, at::cat({a, a}, 1)})));
    CHECK(same(ht::block(x), a));
    CHECK(same(ht::concatenate({x, x}, std::nullopt), at::cat({a, a}).flatten()));
    CHECK_THROWS_AS(ht::block({{x, x}, x}), ht::ValueError);
  }
  CHECK(same(ht::block({ht::arange(2), 7}), longs({0, 1, 7})));
  CHECK_THROWS_AS(ht::block({1, 2}), ht::ValueError);
}

TEST_CASE("numbers, rows and slices are inserted", "[ops][join][host]") {
  const auto a = at::arange(6).reshape({2, 3});
  for (const auto& layout : every_layout({2, 3})) {
    auto x = distribute(a, layout);
    CHECK(same(ht::insert(x, 1, 2.7), longs({0, 2, 1, 2, 3, 4, 5})));
    CHECK(same(ht::insert(x, 1, ht::array({7, 8}), 1), longs({0, 7, 1, 2, 3, 8, 4, 5}).reshape({2, 4})));
    CHECK(same(ht::insert(x, ht::slice(0, 3, 2), ht::array({7, 8}), 1),
               longs({7, 0, 1, 8, 2, 7, 3, 4, 8, 5}).reshape({2, 5})));
    CHECK(same(ht::insert(x, std::vector<std::int64_t>{1}, ht::array({{7, 8}}), 1),
               longs({0, 7, 8, 1, 2, 3, 7, 8, 4, 5}).reshape({2, 5})));
    CHECK(same(ht::insert(x, ht::flatten(x) > 4, -1), longs({0, 1, 2, 3, 4, -1, 5})));
    CHECK_THROWS_AS(ht::insert(x, 4, 0, 1), ht::IndexError);
    const auto rows = ht::reshape(ht::array({7, 8, 9, 1, 2, 3}), {1, 2, 3}), row = rows(ht::all_of, ht::slice(0, 1));
    CHECK(same(ht::insert(x, 1, row, 0), longs({0, 1, 2, 7, 8, 9, 3, 4, 5}).reshape({3, 3})));
    CHECK(same(ht::insert(x, {0, 1}, rows, 0), longs({7, 8, 9, 0, 1, 2, 1, 2, 3, 3, 4, 5}).reshape({4, 3})));
    CHECK(same(ht::insert(x, 1, ht::full({1, 1, 1}, 7), 1), longs({0, 7, 1, 2, 3, 7, 4, 5}).reshape({2, 4})));
    CHECK(same(ht::insert(x, {1, 2}, ht::array({{7, 8}})), longs({0, 7, 1, 8, 2, 3, 4, 5})));
    CHECK_THROWS_AS(ht::insert(x, 1, rows, 0), ht::ValueError);
    CHECK_THROWS_AS(ht::insert(x, std::vector<std::int64_t>{1}, rows, 0), ht::ValueError);
    CHECK_THROWS_AS(ht::insert(x, 1, ht::array({{7, 8}})), ht::ValueError);
    const auto mask = ht::array({true, false, true}, {.split = 0});
    CHECK(same(ht::insert(x, mask, 7, 0), longs({7, 7, 7, 0, 1, 2, 3, 4, 5, 7, 7, 7}).reshape({4, 3})));
    CHECK(same(ht::delete_(x, mask, 1), longs({1, 4}).reshape({2, 1})));
    CHECK(same(ht::delete_(x, ht::array({{1, 2}, {3, 4}})), longs({0, 5})));
    for (const auto& other : {ht::full({}, true), ht::full({}, false), x > 2}) {
      CHECK_THROWS_AS(ht::insert(x, other, 7), ht::ValueError);
      CHECK_THROWS_AS(ht::delete_(x, other), ht::ValueError);
    }
    CHECK_THROWS_AS(ht::insert(x, ht::array({{0, 1}}), 7), ht::ValueError);
    CHECK_THROWS_AS(ht::delete_(x, mask, 0), ht::ValueError);
  }
}

TEST_CASE("indices are rolled and repeated along several axes or none", "[ops][join]") {
  const auto a = at::arange(6).reshape({2, 3});
  for (const auto& layout : every_layout({2, 3})) {
    const auto x = distribute(a, layout);
    CHECK(same(ht::roll(x, -1, {0, 1}), a.roll({-1, -1}, {0, 1})));
    CHECK(same(ht::roll(x, 2), a.roll(2)));
    constexpr auto low = std::numeric_limits<std::int64_t>::min(), high = std::numeric_limits<std::int64_t>::max();
    CHECK(same(ht::roll(x, low), a.roll(-2)));
    CHECK(same(ht::roll(x, low, 0), a));
    CHECK(same(ht::roll(x, low, 1), a.roll(1, 1)));
    CHECK(same(ht::roll(x, high), a.roll(1)));
    CHECK(same(ht::roll(x, {high, high, 1}, 1), a));
    CHECK(same(ht::roll(x, {1, 2, -4}, 1), a.roll(-1, 1)));
    CHECK(same(ht::roll(x, {2, -1}, {1, -1}), a.roll(1, 1)));
    CHECK(same(ht::roll(x, {1, 2}), a.roll(3)));
    CHECK(ht::roll(x, {1, 2, -4}, 1).layout() == layout);
    CHECK_THROWS_AS(ht::roll(x, std::vector<std::int64_t>{}, {0, 1}), ht::ValueError);
    CHECK(same(ht::repeat(x, std::vector<std::int64_t>{0, 1, 2, 0, 1, 1}), longs({1, 2, 2, 4, 5})));
    CHECK(same(ht::repeat(x, std::vector<std::int64_t>{2}, 1), a.repeat_interleave(2, 1)));
  }
}

TEST_CASE("each side of an array is padded with its own values", "[ops][pad]") {
  const auto a = at::arange(6).reshape({2, 3});
  for (const auto& layout : every_layout({2, 3})) {
    const auto x = distribute(a, layout);
    for (const double bad : {1e10, double{NAN}, -double{INFINITY}})
      CHECK_THROWS_AS(ht::pad(x.astype(ht::int32), {{1, 0}}, {.value = bad}), ht::ValueError);
    CHECK(same(ht::pad(x, 2), gathered(ht::pad(x, {{2, 2}}))));
    CHECK(same(ht::pad(x, {{1, 0}, {1, 1}}, {.values = {{9, 9}, {-1, -2}}}),
               longs({-1, 9, 9, 9, -2, -1, 0, 1, 2, -2, -1, 3, 4, 5, -2}).reshape({3, 5})));
    CHECK(same(ht::pad(x, {{0, 0}, {1, 1}}, {.mode = ht::PadMode::maximum, .stat_lengths = {{2, 1}}}),
               longs({1, 0, 1, 2, 2, 4, 3, 4, 5, 5}).reshape({2, 5})));
    CHECK(same(ht::pad(x, {{0, 0}, {5, 4}}, {.mode = ht::PadMode::reflect, .odd = true}),
               (at::arange(12) - 5).expand({2, 12}) + at::tensor({0, 3}, at::kLong).unsqueeze(1)));
    CHECK(same(ht::pad(x, {{0, 0}, {4, 4}}, {.mode = ht::PadMode::symmetric, .odd = true}),
               longs({-2, -2, -1, 0, 0, 1, 2, 2, 3, 4, 4, 1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7}).reshape({2, 11})));
    CHECK_THROWS_AS(ht::pad(x, {{1, 1}}, {.values = {{1, 1}, {2, 2}, {3, 3}}}), ht::ValueError);
  }
}

TEST_CASE("odd reflections of infinite elements are NumPy's", "[ops][pad]") {
  constexpr double inf = INFINITY, nan = NAN;
  const auto doubles = [](const std::vector<double>& values) { return at::tensor(values, at::kDouble); };
  const auto odd = [](const ht::DNDarray& x, std::int64_t before, std::int64_t behind, ht::PadMode mode) {
    return ht::pad(x, {{before, behind}}, {.mode = mode, .odd = true});
  };
  using enum ht::PadMode;
  for (const auto& layout : every_layout({3})) {
    CHECK(same(odd(distribute(doubles({1, 2, inf}), layout), 3, 5, reflect),
               doubles({-inf, -inf, 0, 1, 2, inf, inf, inf, nan, nan, inf})));
    CHECK(same(odd(distribute(doubles({-inf, 2, 5}), layout), 4, 2, symmetric),
               doubles({nan, -inf, -inf, nan, -inf, 2, 5, 5, 8})));
    CHECK(same(odd(distribute(doubles({1, inf, 3}), layout), 7, 7, reflect),
               doubles({inf, -5, -inf, -3, inf, -1, -inf, 1, inf, 3, -inf, 5, inf, 7, -inf, 9, inf})));
    const auto flags = distribute(longs({1, 0, 1}).to(at::kBool), layout);
    CHECK(same(odd(flags, 2, 4, symmetric), longs({1, 1, 1, 0, 1, 1, 1, 1, 1}).to(at::kBool)));
  }
  for (const auto& layout : every_layout({1}))
    for (const auto mode : {reflect, symmetric})
      CHECK(same(odd(distribute(doubles({inf}), layout), 2, 1, mode), doubles({inf, inf, inf, inf})));
  for (const auto& layout : every_layout({2}))
    CHECK(same(odd(distribute(longs({1, 5}).to(at::kByte), layout), 5, 5, reflect),
               longs({237, 241, 245, 249, 253, 1, 5, 9, 13, 17, 21, 25}).to(at::kByte)));
}

TEST_CASE("elements are counted in Fortran's order", "[ops][reshape]") {
  const auto a = at::arange(24).reshape({2, 3, 4}), turned = a.permute({2, 1, 0});
  for (const auto& layout : every_layout({2, 3, 4})) {
    const auto x = distribute(a, layout);
    CHECK(same(ht::ravel(x, ht::Order::F), turned.flatten()));
    CHECK(same(ht::reshape(x, {-1, 6}, ht::Order::F), turned.reshape({6, 4}).t()));
  }
  const auto places = ht::unravel_index(ht::array({1, 5}), {2, 3}, ht::Order::F);
  CHECK(same(places[0], longs({1, 1})));
  CHECK(same(places[1], longs({0, 2})));
  CHECK(same(ht::ravel_multi_index(places, {2, 3}, {.order = ht::Order::F}), longs({1, 5})));
  CHECK(same(ht::ravel_multi_index({ht::array({9}), ht::array({-1})}, {4, 6},
                                   {.modes = {ht::IndexMode::clip, ht::IndexMode::wrap}}),
             longs({23})));
}

TEST_CASE("an array repeated many times", "[ops][join]") {
  const std::int64_t many = 1000003;
  for (const auto& layout : every_layout({3})) {
    const auto x = distribute(at::arange(3), layout);
    const auto expected = at::arange(3).repeat({many});
    CHECK(same(ht::tile(x, {many}), expected));
    CHECK(same(ht::resize(x, {many}), expected.narrow(0, 0, many)));
    CHECK(same(ht::pad(x, {{many, 0}}, {.mode = ht::PadMode::wrap}), expected.narrow(0, 2, many + 3)));
  }
  const auto columns = ht::transpose(distribute(at::arange(6).view({2, 3}), ht::Layout({2, 3}, 1, ht::world().size())));
  CHECK(same(ht::tile(columns, {2, 5}), at::arange(6).view({2, 3}).t().repeat({2, 5})));
}

TEST_CASE("repeating beyond memory or 64 bits is an error", "[ops][join]") {
  const std::int64_t huge = std::int64_t{1} << 45;
  for (const auto& layout : every_layout({3})) {
    const auto x = distribute(at::arange(3), layout);
    CHECK_THROWS_AS(ht::tile(x, {huge}), ht::MemoryError);
    CHECK_THROWS_AS(ht::resize(x, {huge}), ht::MemoryError);
    CHECK_THROWS_AS(ht::repeat(x, huge), ht::MemoryError);
    CHECK_THROWS_AS(ht::pad(x, {{huge, 0}}), ht::MemoryError);
    CHECK_THROWS_AS(ht::pad(x, {{huge, 0}}, {.mode = ht::PadMode::wrap}), ht::MemoryError);
    CHECK_THROWS_AS(ht::pad(x, {{INT64_MAX, 0}}, {.mode = ht::PadMode::wrap}), ht::ValueError);
    CHECK_THROWS_AS(ht::repeat(x, {INT64_MAX, 3, 1}), ht::ValueError);
  }
}

TEST_CASE("pad takes only the options of its mode", "[ops][pad]") {
  using enum ht::PadMode;
  const auto x = ht::arange(3, {.split = 0});
  for (const auto mode : {edge, reflect, symmetric, wrap, empty, maximum, mean})
    CHECK_THROWS_AS(ht::pad(x, {{1, 1}}, {.mode = mode, .values = {{0, 0}}}), ht::ValueError);
  for (const auto mode : {constant, edge, reflect, symmetric, wrap, empty, linear_ramp}) {
    CHECK_THROWS_AS(ht::pad(x, {{1, 1}}, {.mode = mode, .stat_length = 1}), ht::ValueError);
    CHECK_THROWS_AS(ht::pad(x, {{1, 1}}, {.mode = mode, .stat_lengths = {{1, 1}}}), ht::ValueError);
  }
  for (const auto mode : {constant, edge, wrap, empty, linear_ramp, median})
    CHECK_THROWS_WITH(ht::pad(x, {{1, 1}}, {.mode = mode, .odd = true}), Catch::Contains("[pad] got odd;"));
}

TEST_CASE("braces hold a list, even around one number", "[ops][join][host]") {
  for (const auto& layout : every_layout({6})) {
    const auto x = distribute(at::arange(6), layout);
    for (const auto& parts : std::vector{ht::split(x, {4}), ht::array_split(x, {4}), ht::hsplit(x, {4})}) {
      REQUIRE(parts.size() == 2);
      CHECK(same(parts[1], at::arange(4, 6)));
    }
    CHECK(ht::split(x, 3).size() == 3);
    CHECK(ht::vsplit(ht::reshape(x, {3, 2}), {1})[1].shape() == ht::Shape{2, 2});
    CHECK(ht::dsplit(ht::reshape(x, {1, 2, 3}), {1})[1].shape() == ht::Shape{1, 2, 2});
    for (const auto& found :
         {ht::percentile(x, {50}), ht::quantile(x, {0.5}), ht::nanpercentile(x, {50}), ht::nanquantile(x, {0.5})})
      CHECK(same(found, at::full({1}, 2.5, at::kDouble)));
    CHECK(ht::percentile(x, 50).ndim() == 0);
    const auto row = ht::array({7, 8});  // all of them before a single place, one each before a list of places
    CHECK(ht::insert(x, 1, row).size() == 8);
    CHECK(same(ht::insert(ht::reshape(x, {3, 2}), {1}, row, 0),
               at::tensor({0, 1, 7, 8, 2, 3, 4, 5}).to(at::kLong).view({4, 2})));
  }
}
