#include "../../support.hpp"
#include "../vectors.hpp"

#include <heatpp/ops/calculus/calculus.hpp>
#include <heatpp/ops/calculus/scan.hpp>
#include <heatpp/ops/creation/creation.hpp>
#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/creation/packbits.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/indexing/part.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/joining/repeat.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/padding/pad.hpp>
#include <heatpp/ops/reductions/arg.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/selection/piecewise.hpp>
#include <heatpp/ops/selection/selection.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/sorting/search.hpp>
#include <heatpp/ops/sorting/sets.hpp>
#include <heatpp/ops/sorting/sort.hpp>

namespace {

at::Tensor cube() { return at::arange(5 * 4 * 3, at::kInt).reshape({5, 4, 3}); }

}  // namespace

TEST_CASE("arrays are cut into parts that share memory", "[ops][part]") {
  const auto global = cube();
  for (const auto& layout : every_layout({5, 4, 3})) {
    const auto x = distribute(global, layout);
    const auto thirds = ht::array_split(x, 3);
    CHECK(thirds.size() == 3);
    for (int i = 0; i < 3; ++i)
      CHECK(same(thirds[static_cast<std::size_t>(i)], at::tensor_split(global, 3)[static_cast<std::size_t>(i)]));
    CHECK(same(ht::split(x, {1, 4})[1], global.slice(0, 1, 4)));
    CHECK(same(ht::hsplit(x, 2)[1], global.slice(1, 2)));
    CHECK(same(ht::dsplit(x, 3)[2], global.slice(2, 2)));
    CHECK(same(ht::unstack(x, 1)[3], global.select(1, 3)));
    CHECK(same(ht::unfold(x, 0, 3), global.unfold(0, 3, 1)));
    CHECK(same(ht::unfold(x, 1, 2, 2), global.unfold(1, 2, 2)));
    CHECK_THROWS_AS(ht::split(x, 2), ht::ValueError);
    CHECK_THROWS_AS(ht::unfold(x, 0, 6), ht::ValueError);
  }
}

TEST_CASE("diagonals and triangles stay in place", "[ops][diagonal][host]") {
  for (const ht::Shape& shape : {ht::Shape{5, 3}, ht::Shape{3, 5}}) {
    const auto global = at::arange(15, at::kDouble).reshape(shape) + 1;
    for (const auto& layout : every_layout(shape)) {
      const auto x = distribute(global, layout);
      for (int k = -5; k <= 5; ++k) {
        CHECK(same(ht::tril(x, k), global.tril(k)));
        CHECK(same(ht::triu(x, k), global.triu(k)));
        if (k >= -shape[0] && k <= shape[1]) CHECK(same(ht::diag(x, k), global.diagonal(k)));
        if (k >= -shape[1] && k <= shape[0])
          CHECK(same(ht::diagonal(x, {.offset = k, .axis1 = 1, .axis2 = 0}), global.diagonal(k, 1, 0)));
      }
      for (const std::int64_t far : {INT64_MIN, INT64_MIN + 1, INT64_MAX}) {
        CHECK(same(ht::tril(x, far), far > 0 ? global : at::zeros_like(global)));
        CHECK(same(ht::triu(x, far), far < 0 ? global : at::zeros_like(global)));
        CHECK(ht::diagonal(x, {.offset = far}).size() == 0);
      }
      auto y = ht::copy(x);
      ht::fill_diagonal(y, -1);
      auto filled = global.clone();
      filled.diagonal().fill_(-1);
      CHECK(same(y, filled));
      ht::fill_diagonal(y, ht::array({7.0, 8.0}, {.dtype = ht::float64}));
      filled.diagonal().copy_(at::tensor({7., 8., 7.}, at::kDouble));
      CHECK(same(y, filled));
    }
  }
  for (const auto& layout : every_layout({8, 2})) {
    auto x = distribute(at::zeros({8, 2}, at::kLong), layout);
    ht::fill_diagonal(x, ht::array({1, 2, 3}), {.wrap = true});
    CHECK(same(x, longs({1, 0, 0, 2, 0, 0, 3, 0, 0, 1, 0, 0, 2, 0, 0, 3}).reshape({8, 2})));
  }
  for (const auto& layout : every_layout({4})) {
    const auto v = at::arange(4) + 1;
    for (const int k : {-2, 0, 1}) CHECK(same(ht::diag(distribute(v, layout), k), at::diag(v, k)));
  }
  for (const auto& layout : every_layout({5, 4, 3}))
    CHECK(same(ht::diagonal(distribute(cube(), layout), {.offset = 1, .axis1 = 2, .axis2 = 0}),
               cube().diagonal(1, 2, 0)));
  CHECK(same(ht::tri(3, {.columns = 4, .k = 1}), at::ones({3, 4}).tril(1)));
  CHECK(same(ht::triu_indices(3, {.k = 1})[1], longs({1, 2, 2})));
  CHECK(same(ht::triu_indices(2, {.k = INT64_MIN})[1], longs({0, 1, 0, 1})));
  CHECK(same(ht::tril_indices(3)[0], longs({0, 1, 1, 2, 2, 2})));
  CHECK(ht::diag_indices(3, 3).size() == 3);
  CHECK_THROWS_AS(ht::diag(ht::ones({2, 2, 2})), ht::ValueError);
}

TEST_CASE("elements are taken and put along an axis", "[ops][selection]") {
  const auto global = cube();
  const auto p = ht::world().size();
  const auto positions = longs({3, 0, -1, 1});
  for (const auto& layout : every_layout({5, 4, 3})) {
    const auto x = distribute(global, layout);
    const auto q = distribute(positions, ht::Layout({4}, 0, p));
    for (const int axis : {0, 1})
      CHECK(same(ht::take(x, q, axis), global.index_select(axis, positions.remainder(axis == 0 ? 5 : 4))));
    CHECK(same(ht::take(x, q), global.flatten().index({positions})));
    for (const int axis : {0, 1, 2}) {
      const auto order = (global * 7 % 11).argsort(std::int64_t{axis});
      for (const auto& cut : every_layout({5, 4, 3})) {
        const auto o = distribute(order, cut);
        CHECK(same(ht::take_along_axis(x, o, axis), global.gather(axis, order)));
        auto y = ht::copy(x);
        ht::put_along_axis(y, o, distribute(global.gather(axis, order) + 1, layout), axis);
        CHECK(same(y, global + 1));
      }
    }
    auto y = ht::copy(x);
    ht::put(y, q, ht::array({100, 200}));
    auto expected = global.clone();
    expected.view(-1).index_put_({positions}, at::tensor({100, 200, 100, 200}, at::kInt));
    CHECK(same(y, expected));
    ht::putmask(y, x > 50, ht::array({-1, -2, -3}, {.dtype = ht::int32}));
    const auto cycle = -(at::arange(60, at::kInt) % 3 + 1).reshape({5, 4, 3});
    expected = at::where(global > 50, cycle, expected);
    CHECK(same(y, expected));
    ht::place(y, x < 4, ht::array({7, 8, 9}, {.dtype = ht::int16}));
    expected.view(-1).slice(0, 0, 4).copy_(at::tensor({7, 8, 9, 7}, at::kInt));
    CHECK(same(y, expected));
    ht::copyto(y, x, x > 30);
    CHECK(same(y, at::where(global > 30, global, expected)));
    ht::copyto(y, x);
    CHECK(same(y, global));
    CHECK(same(ht::extract(x % 7 == 0, x), global.masked_select(global % 7 == 0)));
    CHECK(same(ht::compress(ht::array({false, true, true}), x, 0), global.slice(0, 1, 3)));
    CHECK(same(ht::compress(ht::array({false, true, true}), x), global.flatten().slice(0, 1, 3)));
  }
  CHECK_THROWS_AS(ht::take(ht::arange(3, {.split = 0}), ht::array({3})), ht::IndexError);
  auto three = ht::arange(3, {.split = 0});
  CHECK_THROWS_AS(ht::put_along_axis(three, ht::array({{0, 1}}), 5, std::nullopt), ht::ValueError);
}

TEST_CASE("choices are made element by element", "[ops][selection]") {
  const auto which = longs({2, 0, 1, 1, 2});
  for (const auto& layout : every_layout({5})) {
    const auto w = distribute(which, layout), x = distribute(longs({0, 1, 2, 3, 4}), layout);
    CHECK(same(ht::choose(w, {x, x * 10, x * 100}), longs({0, 1, 20, 30, 400})));
    CHECK(same(ht::select({x<1, x> 2}, {x - 5, x * x}, 42), longs({-5, 42, 42, 9, 16})));
    CHECK(same(ht::select({x<1, x> 2}, {7, 8}), longs({7, 0, 0, 8, 8})));
    CHECK(same(ht::choose(w, {x, 10, x * 100}), longs({0, 1, 10, 10, 400})));
    CHECK(same(ht::piecewise(x, {x<2, x> 3}, {[](const auto& v) { return -v; }, [](const auto& v) { return v * 2; }}),
               longs({0, -1, 0, 0, 8})));
    CHECK(same(ht::choose(w, {x > 0, x > 1, x > 2}), longs({0, 1, 1, 1, 1}).to(at::kBool)));
    CHECK(same(ht::piecewise(x, {x < 2}, {-1, [](const auto& v) { return v * 2; }}), longs({-1, -1, 4, 6, 8})));
    CHECK(same(ht::piecewise(x, {x < 1}, {1.5, [](const auto& v) { return v + (std::int64_t{1} << 53); }}) - x,
               longs({1, 1LL << 53, 1LL << 53, 1LL << 53, 1LL << 53})));
    CHECK(same(ht::pad(x + 52, {{6, 0}}, {.mode = ht::PadMode::linear_ramp, .value = -2}).index({ht::slice(0, 6)}),
               longs({-2, 7, 16, 25, 34, 43})));
    CHECK(same(ht::take_along_axis(x, w, std::nullopt), which));
    auto y = ht::copy(x);
    ht::put_along_axis(y, w, 9, std::nullopt);
    CHECK(same(y, longs({9, 9, 9, 3, 4})));
    CHECK_THROWS_AS(ht::copyto(y, 2.5), ht::TypeError);
    CHECK_THROWS_AS(ht::vsplit(x, 5), ht::ValueError);
    CHECK_THROWS_AS(ht::vsplit(x, std::vector<std::int64_t>{1}), ht::ValueError);
    CHECK_THROWS_AS(ht::dsplit(x, 1), ht::ValueError);
    CHECK_THROWS_AS(ht::dsplit(x, std::vector<std::int64_t>{1}), ht::ValueError);
    CHECK_THROWS_AS(ht::hsplit(ht::full({}, 1), 1), ht::ValueError);
    CHECK_THROWS_AS(ht::hsplit(ht::full({}, 1), std::vector<std::int64_t>{0}), ht::ValueError);
    CHECK(same(ht::take(x, x > 1, 0), gathered(x).index_select(0, (gathered(x) > 1).to(at::kLong))));
    CHECK_THROWS_AS(ht::choose(w, {x, x}), ht::ValueError);
    const auto parts = ht::unravel_index(x + 7, {4, 3});
    CHECK(same(parts[0], longs({2, 2, 3, 3, 3})));
    CHECK(same(parts[1], longs({1, 2, 0, 1, 2})));
    CHECK(same(ht::ravel_multi_index(parts, {4, 3}), longs({7, 8, 9, 10, 11})));
    CHECK_THROWS_AS(ht::unravel_index(x + 8, {4, 3}), ht::ValueError);
    CHECK_THROWS_AS(ht::ravel_multi_index({x, x}, {4, 3}), ht::ValueError);
    CHECK_THROWS_AS(ht::unravel_index(x * 0, {}), ht::ValueError);
  }
  const auto grid = ht::ix_({ht::array({2, 0}), ht::array({true, false, true})});
  CHECK(same(distribute(cube(), ht::Layout({5, 4, 3}, 0, ht::world().size()))(grid[0], ht::all_of, grid[1]),
             cube()
                 .index({longs({2, 0}), at::indexing::Slice(), at::indexing::Slice()})
                 .index({"...", longs({0, 2})})
                 .permute({0, 2, 1})));
}

TEST_CASE("positions out of range wrap or are limited", "[ops][selection]") {
  const auto global = at::arange(12).reshape({4, 3});
  const auto wanted = at::tensor({-1, 5, 2}, at::kLong);
  const auto wrap = ht::IndexMode::wrap, clip = ht::IndexMode::clip;
  for (const auto& layout : every_layout({4, 3}))
    for (const auto& other : every_layout({3})) {
      const auto x = distribute(global, layout), positions = distribute(wanted, other);
      CHECK(same(ht::take(x, positions, {.axis = 0, .mode = wrap}), global.index_select(0, at::tensor({3, 1, 2}))));
      CHECK(same(ht::take(x, positions, {.axis = 0, .mode = clip}), global.index_select(0, at::tensor({0, 3, 2}))));
      CHECK(same(ht::take(x, positions * 9, {.mode = wrap}), at::tensor({3, 9, 6}, at::kLong)));
      auto y = ht::copy(x);
      ht::put(y, positions * 9, 100, {.mode = clip});
      CHECK(same(y, at::where(at::logical_or(global == 0, global == 11), 100, global)));
      CHECK_THROWS_AS(ht::take(x, positions, 0), ht::IndexError);
      const auto choices = std::vector{positions * 10, positions * 100};
      CHECK(same(ht::choose(positions, choices, {.mode = clip}), at::tensor({-10, 500, 200}, at::kLong)));
      CHECK(same(ht::ravel_multi_index({positions, positions}, {4, 4}, {.mode = wrap}),
                 at::tensor({15, 5, 10}, at::kLong)));
    }
}

TEST_CASE("values of another kind are refused", "[ops][selection]") {
  auto x = ht::arange(3, {.split = 0});
  const auto values = ht::array({1.5, 2.5, 3.5}, {.split = 0}), mask = ht::ones({3}, {.dtype = ht::bool_, .split = 0});
  CHECK_THROWS_WITH(ht::copyto(x, values), Catch::Contains("[copyto] got values of float32 for an array of int64"));
  CHECK_THROWS_AS(ht::putmask(x, mask, values), ht::TypeError);
  CHECK_THROWS_AS(ht::place(x, mask, values), ht::TypeError);
  ht::place(x, ht::zeros_like(mask), ht::zeros({0}));
}

TEST_CASE("values that would be wrapped or rounded are refused under a mask", "[ops][selection]") {
  const auto far = std::int64_t{1} << 40;
  for (const auto& layout : every_layout({3})) {
    auto x = distribute(at::zeros({3}, at::kInt), layout);
    auto y = distribute(at::zeros({3}), layout);
    CHECK_THROWS_WITH(ht::putmask(x, x < 1, ht::array({far})),
                      Catch::Contains("[putmask] got values of int64 for an array of int32"));
    CHECK_THROWS_AS(ht::place(x, x < 1, ht::array({far})), ht::TypeError);
    CHECK_THROWS_AS(ht::putmask(y, x < 1, ht::ones({1}, {.dtype = ht::float64})), ht::TypeError);
    CHECK_THROWS_AS(ht::place(y, x < 1, ht::ones({1}, {.dtype = ht::int32})), ht::TypeError);
    ht::putmask(x, x < 1, ht::array({1, 2, 3}, {.dtype = ht::int16}));
    CHECK(same(x, at::tensor({1, 2, 3}, at::kInt)));
    ht::place(y, x > 1, ht::array({4}, {.dtype = ht::uint8}));
    CHECK(same(y, at::tensor({0.F, 4.F, 4.F})));
  }
}

TEST_CASE("numbers to choose from give way to all arrays", "[ops][selection]") {
  const auto which = at::tensor({0, 1, 2}, at::kLong);
  for (const auto& layout : every_layout({3})) {
    const auto w = distribute(which, layout), narrow = w.astype(ht::int16);
    CHECK(same(ht::choose(w, {w > 5, 7, narrow}), at::tensor({0, 7, 2}, at::kShort)));
    CHECK(same(ht::select({w < 1, w < 2}, {narrow + 5, 7}, 9), at::tensor({5, 7, 9}, at::kShort)));
    CHECK(same(ht::select({w < 1, w < 2}, {0.1, 7}, w.astype(ht::float64)), at::tensor({0.1, 7., 2.}, at::kDouble)));
    CHECK_THROWS_AS(ht::select({w < 1}, {narrow}, 40000), ht::ValueError);
  }
}

TEST_CASE("numbers that do not fit are refused by all ranks", "[ops][selection]") {
  auto x = ht::zeros({6}, {.dtype = ht::uint8, .split = 0});
  CHECK(message_of<ht::ValueError>([&] { x.index_put({0}, 300); }) ==
        "[index_put] got the number 300 for an array of uint8; expected 0 .. 255");
  CHECK_THROWS_AS(ht::put(x, ht::array({0}), -1), ht::ValueError);
  CHECK_THROWS_AS(ht::full({2}, 256, {.dtype = ht::uint8}), ht::ValueError);
  CHECK_THROWS_AS(ht::full_like(x, 300), ht::ValueError);
  CHECK(same(x, at::zeros({6}, at::kByte)));
  CHECK(same(ht::full_like(x.astype(ht::float16), 70000), at::full({6}, INFINITY, at::kHalf)));
  CHECK(same(ht::pad(x, {{1, 1}}, {.value = 300}), at::tensor({44, 0, 0, 0, 0, 0, 0, 44}).to(at::kByte)));
  CHECK_THROWS_AS(ht::pad(x.astype(ht::int8), {{1, 1}}, {.value = 300}), ht::ValueError);
  CHECK_THROWS_AS(ht::ediff1d(x, {.to_end = {7}}), ht::TypeError);
  CHECK_THROWS_AS(ht::ediff1d(x, {.to_begin = {1.5}}), ht::TypeError);
  CHECK(same(ht::diff(x, {.prepend = 2}), at::tensor({-2, 0, 0, 0, 0, 0}, at::kLong)));
  CHECK(same(ht::searchsorted(x, 300), at::full({}, 6, at::kLong)));
}

TEST_CASE("arrays without axes are written and reduced, and empty values are written to no element",
          "[ops][selection]") {
  auto x = ht::zeros({}, {.dtype = ht::float64});
  ht::put(x, ht::array({0, -1}), ht::array({1., 2.}));
  CHECK(x.item<double>() == 2);
  CHECK(ht::sum(x, 0).item<double>() == 2);
  CHECK_THROWS_AS(ht::sum(x, 1), ht::IndexError);
  const auto first = at::zeros({1}, at::kLong);
  CHECK(same(ht::argsort(x, {.axis = 0}), first));
  CHECK(same(ht::argpartition(x, 0), first));
  CHECK_THROWS_AS(ht::argsort(x, {.axis = 1}), ht::IndexError);
  CHECK(same(ht::argmax(x, 0), first[0]));
  CHECK(same(ht::argmin(x, {.axis = -1, .keepdims = true}), first[0]));
  CHECK_THROWS_AS(ht::argmax(x, 1), ht::IndexError);
  CHECK(same(ht::cumsum(x, 0), at::full({1}, 2, at::kDouble)));
  CHECK(same(ht::nancumprod(x, -1), at::full({1}, 2, at::kDouble)));
  CHECK_THROWS_AS(ht::cumsum(x, 1), ht::IndexError);
  auto y = ht::ones({4}, {.split = 0});
  ht::put(y, ht::array({0, 1}), ht::zeros({0}));
  ht::putmask(y, y > 0, ht::zeros({0}));
  CHECK(same(y, at::ones({4})));
  CHECK_THROWS_AS(ht::compress(ht::ones({5}, {.dtype = ht::bool_}), y, 0), ht::IndexError);
  CHECK(same(ht::compress(y(ht::array({0, 1, 2, 3, 0, 1})) * ht::array({1, 0, 1, 0, 0, 0}) > 0, y, 0), at::ones({2})));
  CHECK_THROWS_AS(ht::broadcast_to(ht::ones({3, 1}, {.split = 0}), {3, -1}), ht::ValueError);
}

TEST_CASE("conditions and masks have NumPy's shapes", "[ops][selection]") {
  const auto global = at::arange(6).reshape({2, 3});
  for (const auto& layout : every_layout({2, 3}))
    for (const auto& cut : every_layout({6})) {
      auto x = distribute(global, layout);
      const auto flat = distribute(longs({0, 1, 1, 0, 0, 1}), cut);
      CHECK(same(ht::extract(flat, x), longs({1, 2, 5})));
      CHECK(same(ht::extract(flat(ht::slice(2, 5)), x), longs({0})));
      CHECK(same(ht::extract(ht::concatenate({flat, flat * 0}), x), longs({1, 2, 5})));
      CHECK_THROWS_AS(ht::extract(ht::concatenate({flat, flat}), x), ht::IndexError);
      CHECK(same(ht::compress(flat(ht::slice(1, 3)) * 0.5, x, 1), global.slice(1, 0, 2)));
      CHECK(same(ht::compress(flat(ht::slice(1, 2)), x, 0), global.slice(0, 0, 1)));
      CHECK_THROWS_AS(ht::compress(x, x, 1), ht::ValueError);
      CHECK_THROWS_AS(ht::compress(ht::full({}, true), x), ht::ValueError);
      ht::putmask(x, flat, ht::array({7, 8}));
      CHECK(same(x, longs({0, 8, 7, 3, 4, 8}).reshape({2, 3})));
      ht::place(x, ht::reshape(flat, {3, 2}), ht::array({1, 2}));
      CHECK(same(x, longs({0, 1, 2, 3, 4, 1}).reshape({2, 3})));
      for (const auto& mask : {flat(ht::slice(0, 5)), ht::full({}, true), ht::ones({1, 3})}) {
        CHECK_THROWS_AS(ht::putmask(x, mask, 9), ht::ValueError);
        CHECK_THROWS_AS(ht::place(x, mask, ht::array({9})), ht::ValueError);
      }
      const auto low = flat(ht::slice(0, 2)) < 1;
      CHECK(same(ht::piecewise(distribute(global, layout), {low, low < 1}, {5, [](const auto& v) { return v * 2; }}),
                 longs({5, 5, 5, 6, 8, 10}).reshape({2, 3})));
      for (const auto& condition : {flat > 0, flat(ht::slice(0, 3)) > 0, ht::ones({2, 1}), ht::ones({2, 3, 1})})
        CHECK_THROWS_AS(ht::piecewise(x, {condition}, {1}), ht::IndexError);
      CHECK_THROWS_AS(ht::piecewise(x, {}, {[](const auto& v) { return ht::expand_dims(v, 0); }}), ht::ValueError);
      CHECK_THROWS_AS(ht::select({flat}, {x(0, 0)}), ht::TypeError);
      CHECK_THROWS_AS(ht::copyto(x, 0, x), ht::TypeError);
      CHECK_THROWS_AS(ht::put_along_axis(x, ht::array({0, 1, 2}), ht::array({1, 2}), std::nullopt), ht::ValueError);
    }
}

TEST_CASE("values that do not fit are refused by all that write", "[ops][selection][host]") {
  for (const auto& layout : every_layout({2, 3})) {
    auto x = distribute(at::zeros({2, 3}, at::kByte), layout);
    const auto first = ht::zeros({2, 1}, {.dtype = ht::int64}), complex = ht::full({}, std::complex<double>(0, 1));
    CHECK(message_of<ht::ValueError>([&] { ht::put_along_axis(x, first, 300, 1); }) ==
          "[put_along_axis] got the number 300 for an array of uint8; expected 0 .. 255");
    CHECK_THROWS_AS(ht::copyto(x, 300), ht::ValueError);
    CHECK_THROWS_AS(ht::putmask(x, x > 0, 300), ht::ValueError);
    CHECK_THROWS_AS(ht::piecewise(x, {x > 0}, {300}), ht::ValueError);
    CHECK_THROWS_AS(ht::fill_diagonal(x, 300), ht::ValueError);
    CHECK_THROWS_AS(ht::insert(x, 0, 300), ht::ValueError);
    CHECK_THROWS_AS(ht::copyto(x, x.astype(ht::int8)), ht::TypeError);
    ht::copyto(x, 255);
    for (const ht::Operand& value : {ht::Operand(complex), ht::Operand(std::complex<double>(0, 1))}) {
      CHECK_THROWS_AS(ht::put(x, ht::array({0}), value), ht::TypeError);
      CHECK_THROWS_AS(ht::put_along_axis(x, first, value, 1), ht::TypeError);
      CHECK_THROWS_AS(ht::fill_diagonal(x, value), ht::TypeError);
      CHECK_THROWS_AS(ht::insert(x, 0, value), ht::TypeError);
    }
    CHECK_THROWS_AS(ht::piecewise(x, {x > 0}, {[&](const auto& v) { return v * complex; }}), ht::TypeError);
    ht::fill_diagonal(x, ht::zeros({0}));
    CHECK(same(x, at::full({2, 3}, 255, at::kByte)));
  }
  const auto p = ht::array({1}, {.split = 0});
  CHECK_THROWS_AS(ht::ravel_multi_index({p, p}, {std::int64_t{1} << 31, std::int64_t{1} << 32}), ht::ValueError);
  CHECK(same(ht::ravel_multi_index({p, p}, {std::int64_t{1} << 31, (std::int64_t{1} << 32) - 1}),
             longs({std::int64_t{1} << 32})));
  auto raveled = ht::ravel_multi_index({p}, {2});
  raveled.index_put({0}, 7);
  CHECK(same(p, longs({1})));
}

TEST_CASE("arrays without axes have axis 0 in functions of NumPy that allow it", "[ops][selection]") {
  auto x = ht::full({}, 5, {.dtype = ht::uint8});
  const auto zero = ht::array({0, 0}, {.split = 0}), truth = ht::array({true}, {.split = 0});
  const auto fives = [](std::int64_t n) { return at::full({n}, 5, at::kByte); };
  const auto bits = at::tensor({0, 0, 0, 0, 0, 1, 0, 1}).to(at::kByte);
  for (const int axis : {0, -1}) {
    CHECK(same(ht::squeeze(x, axis), fives(1)[0]));
    CHECK(same(ht::take(x, zero, axis), fives(2)));
    CHECK(same(ht::take(x, ht::full({}, 0, {.dtype = ht::int64}), axis), fives(1)[0]));
    CHECK(same(ht::repeat(x, 3, axis), fives(3)));
    CHECK(same(ht::compress(truth, x, axis), fives(1)));
    CHECK(same(ht::packbits(x, axis), at::full({1}, 128, at::kByte)));
    CHECK(same(ht::unpackbits(x, axis), bits));
    CHECK(same(ht::unpackbits(x, {.axis = axis, .count = 6}), bits.slice(0, 0, 6)));
    CHECK_THROWS_AS(ht::insert(x, 0, 7, axis), ht::IndexError);
    CHECK_THROWS_AS(ht::delete_(x, 0, axis), ht::IndexError);
  }
  CHECK_THROWS_AS(ht::squeeze(x, 1), ht::IndexError);
  CHECK_THROWS_AS(ht::take(x, zero, 1), ht::IndexError);
  CHECK_THROWS_AS(ht::take(x, zero + 1, 0), ht::IndexError);
  CHECK_THROWS_AS(ht::repeat(x, 3, 1), ht::IndexError);
  CHECK_THROWS_AS(ht::compress(truth, x, 1), ht::IndexError);
  CHECK_THROWS_AS(ht::packbits(x, 1), ht::IndexError);
}
