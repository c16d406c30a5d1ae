#include "../../support.hpp"
#include "../vectors.hpp"

#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/indexing/nonzero.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/operands/operand.hpp>
#include <heatpp/ops/selection/selection.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

using at::indexing::None;
using at::indexing::Slice;

namespace {

at::Tensor cube() { return at::arange(5 * 4 * 3, at::kInt).reshape({5, 4, 3}); }
const auto whole = ht::all_of;

}  // namespace

TEST_CASE("positions select in their order, repeated and negative ones too", "[ops][positions]") {
  const auto global = cube();
  const auto rows = at::tensor({3, 0, -1, 3, 2, 2, -5}), columns = at::tensor({2, 0, -1, 1, 3, 3}).reshape({3, 2});
  for (const auto& layout : every_layout({5, 4, 3})) {
    const auto x = distribute(global, layout);
    for (const auto& cut : every_layout({7})) {
      const auto p = distribute(rows, cut);
      CHECK(same(x(p), global.index({rows})));
      CHECK(same(x(p, ht::slice(1, 3)), global.index({rows, Slice(1, 3)})));
      CHECK(same(x(p, 2), global.index({rows}).select(1, 2)));
      CHECK(same(x(p, ht::newaxis, whole, -1), global.index({rows}).unsqueeze(1).select(3, 2)));
    }
    for (const auto& cut : every_layout({3, 2})) {
      const auto p = distribute(columns, cut);
      CHECK(same(x(whole, p), global.index({Slice(), columns})));
      CHECK(same(x(ht::slice(std::nullopt, std::nullopt, -1), p), global.flip(0).index({Slice(), columns})));
      CHECK(same(x(p), global.index({columns})));
      CHECK(same(x(ht::ellipsis, p.index({whole, 0}) % 3), global.index({Slice(), Slice(), columns.select(1, 0) % 3})));
    }
    CHECK(same(x(std::vector<std::int64_t>{4, -4}), global.index({at::tensor({4, -4})})));
    CHECK(same(x(std::vector<std::int64_t>{}), global.narrow(0, 0, 0)));
    CHECK(same(x(ht::array(-2)), global[3]));
  }
}

TEST_CASE("many positions are answered in their order, for rows of any size", "[ops][positions]") {
  const auto rows = (at::arange(5000, at::kLong) * 7919 + 13) % 97;
  for (const std::int64_t width : {1, 3}) {
    const auto global = at::arange(97 * width, at::kFloat).reshape({97, width});
    for (const auto& layout : every_layout({97, width}))
      for (const auto& cut : every_layout({5000})) {
        CAPTURE(width);
        CHECK(same(distribute(global, layout)(distribute(rows, cut)), global.index({rows})));
      }
  }
}

TEST_CASE("positions along several axes broadcast", "[ops][positions]") {
  const auto global = cube();
  const auto i = at::tensor({3, 0, -1, 4}), j = at::tensor({1, 2, -4, 0}), row = at::tensor({2, -1, 0}).reshape({3, 1}),
             k = at::tensor({2, 0});
  for (const auto& layout : every_layout({5, 4, 3})) {
    const auto x = distribute(global, layout);
    for (const auto& cut : every_layout({4})) {
      const auto a = distribute(i, cut), b = distribute(j, ht::Layout({4}, 0, ht::world().size()));
      CHECK(same(x(a, b), global.index({i, j})));
      CHECK(same(x(whole, b, a % 3), global.index({Slice(), j, i % 3})));
      CHECK(same(x(a, whole, b % 3), global.index({i, Slice(), j % 3})));
      CHECK(same(x(a, b, b % 3), global.index({i, j, j % 3})));
    }
    for (const auto& cut : every_layout({3, 1}))
      CHECK(
          same(x(distribute(row, cut), distribute(k, ht::Layout({2}, 0, ht::world().size()))), global.index({row, k})));
    // NumPy puts the axes of arrays first if a slice is between them and a position.
    CHECK(same(x(1, whole, distribute(k, ht::Layout({2}, 0, ht::world().size()))), global[1].index({Slice(), k}).t()));
  }
}

TEST_CASE("masks mix with positions", "[ops][positions]") {
  const auto global = cube();
  const auto rows = at::tensor({1, 0, 1, 1, 0}).to(at::kBool), last = at::tensor({1, 0, 1}).to(at::kBool);
  for (const auto& layout : every_layout({5, 4, 3})) {
    const auto x = distribute(global, layout);
    const auto m = distribute(rows, ht::Layout({5}, 0, ht::world().size()));
    const auto n = distribute(last, ht::Layout({3}, std::nullopt, ht::world().size()));
    CHECK(same(x(m, std::vector<std::int64_t>{0, 3, 1}), global.index({rows, at::tensor({0, 3, 1})})));
    CHECK(same(x(2, whole, n), global[2].index({Slice(), last}).t()));
    CHECK(same(x(0, 1, n), global[0][1].index({last})));
    CHECK(same(x(true), global.unsqueeze(0)));
    CHECK(same(x(false, whole, 1), global.select(1, 1).unsqueeze(0).narrow(0, 0, 0)));
  }
}

TEST_CASE("writing through an index changes exactly what reading it gives", "[ops][positions]") {
  const auto p = ht::world().size();
  const auto i = at::tensor({3, 0, -1, 1}), j = at::tensor({1, 2, -4, 0}),
             k = at::tensor({2, 0, 1, 2, 0, 1}).reshape({3, 2});
  const auto values = at::arange(60, at::kDouble) + 100;
  for (const auto& layout : every_layout({5, 4, 3})) {
    const auto writes = [&](std::initializer_list<ht::Index> index, const at::Tensor& view, const at::Tensor& value) {
      // `view` is the oracle's numbering of the selected elements.
      auto expected = cube().flatten();
      const auto filled =
          (value.dim() > view.dim() ? value.squeeze(0) : value).expand(view.sizes()).to(at::kInt).flatten();
      for (std::int64_t n = 0; n < filled.numel(); ++n) expected[view.flatten()[n].item<std::int64_t>()] = filled[n];
      for (const auto& cut : every_layout(value.sizes().vec())) {
        auto x = distribute(cube(), layout);
        x.index_put(index, distribute(value, cut));
        if (!same(x, expected.reshape({5, 4, 3}))) return false;
      }
      return true;
    };
    const auto global = cube();
    const auto a = distribute(i, ht::Layout({4}, 0, p)), b = distribute(j, ht::Layout({4}, std::nullopt, p)),
               c = distribute(k, ht::Layout({3, 2}, 1, p));
    CHECK(writes({2}, global[2], values.slice(0, 0, 12).reshape({4, 3})));
    CHECK(writes({2, ht::slice(1, 3)}, global[2].slice(0, 1, 3), values.slice(0, 0, 3)));
    CHECK(writes({ht::slice(1, 5, 2)}, global.slice(0, 1, 5, 2), values.slice(0, 0, 24).reshape({1, 2, 4, 3})));
    CHECK(
        writes({ht::slice(4, 0, -2), 1}, global.index({at::tensor({4, 2}), 1}), values.slice(0, 0, 6).reshape({2, 3})));
    CHECK(writes({ht::ellipsis, -1}, global.select(2, 2), values.slice(0, 0, 5).reshape({5, 1})));
    CHECK(writes({a}, global.index({i}), values.slice(0, 0, 48).reshape({4, 4, 3})));
    CHECK(writes({a}, global.index({i}), values.slice(0, 0, 3)));
    CHECK(writes({whole, b}, global.index({Slice(), j}), values.slice(0, 0, 12).reshape({4, 3})));
    CHECK(writes({a, b}, global.index({i, j}), values.slice(0, 0, 12).reshape({4, 3})));
    CHECK(writes({a, whole, b % 3}, global.index({i, Slice(), j % 3}), values.slice(0, 0, 4)));
    CHECK(writes({1, whole, a % 3}, global[1].index({Slice(), i % 3}).t(), values.slice(0, 0, 16).reshape({4, 4})));
    CHECK(writes({whole, ht::slice(3, std::nullopt, -1), c}, global.flip(1).index({Slice(), Slice(), k}),
                 values.slice(0, 0, 24).reshape({4, 3, 2})));
    CHECK(writes({global.numel() > 0 ? c : a}, global.index({k}), values.slice(0, 0, 12).reshape({1, 4, 3})));
  }
}

TEST_CASE("masks and numbers are written, and repeated positions keep the last", "[ops][positions]") {
  const auto p = ht::world().size();
  for (const auto& layout : every_layout({5, 4})) {
    auto global = at::arange(20, at::kDouble).reshape({5, 4});
    auto x = distribute(global, layout);
    x.index_put({x > 11}, -1);
    global.masked_fill_(global > 11, -1);
    CHECK(same(x, global));
    const auto rows = at::tensor({0, 1, 1, 0, 1}).to(at::kBool);
    const auto three = at::arange(12, at::kDouble).reshape({3, 4});
    x.index_put({distribute(rows, ht::Layout({5}, 0, p))}, distribute(three, ht::Layout({3, 4}, 1, p)));
    global.index_put_({rows}, three);
    CHECK(same(x, global));
    x.index_put({whole, distribute(at::tensor({1, 0, 0, 1}).to(at::kBool), ht::Layout({4}, 0, p))}, 7.5);
    global.index_put_({Slice(), at::tensor({1, 0, 0, 1}).to(at::kBool)}, at::tensor(7.5, at::kDouble));
    CHECK(same(x, global));
    const auto repeated = at::tensor({2, 4, 2, 4, 2});
    for (const auto& cut : every_layout({5})) {
      x.index_put({distribute(repeated, cut), 0}, ht::arange(5, {.dtype = ht::float64, .split = 0}));
      CHECK(x(2, 0).item<double>() == 4);
      CHECK(x(4, 0).item<double>() == 3);
      x.index_put({2, 0}, 0);
    }
    x.index_put({ht::slice(1, std::nullopt)}, x(ht::slice(0, -1)));
    CHECK(same(x(1), gathered(x(0))));
  }
}

TEST_CASE("nonzero finds positions in C order", "[ops][positions]") {
  const auto global = cube() % 4 == 1;
  for (const auto& layout : every_layout({5, 4, 3})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::argwhere(x), global.nonzero()));
    CHECK(same(ht::nonzero(x)[2], global.nonzero().select(1, 2)));
    CHECK(same(ht::flatnonzero(x), global.flatten().nonzero().flatten()));
  }
}

TEST_CASE("bad positions are errors on all ranks", "[ops][positions]") {
  auto x = ht::zeros({5, 4}, {.split = 0});
  // Only the rank that holds the bad position sees it.
  const auto late = distribute(at::tensor({0, 1, 2, 5}), ht::Layout({4}, 0, ht::world().size()));
  CHECK_THROWS_WITH(x(late), Catch::Contains("[index] got position 5 along axis 0 of an array of shape (5, 4)"));
  CHECK_THROWS_AS(x.index_put({late}, 1), ht::IndexError);
  CHECK_THROWS_AS(x(ht::array({1.5, 2.0})), ht::IndexError);
  CHECK_THROWS_AS(x(ht::array({0, 1}), ht::array({0, 1, 2})), ht::ValueError);
  CHECK_THROWS_AS(x.index_put({ht::array({0, 1})}, ht::ones({3, 4})), ht::ValueError);
  CHECK_THROWS_AS(x.index_put({0}, std::complex<double>(0, 1)), ht::TypeError);
  CHECK_THROWS_AS(x.index_put({5}, 1), ht::IndexError);
  CHECK(same(x, at::zeros({5, 4})));
}

TEST_CASE("positions that are not whole numbers are refused by all ranks", "[ops][selection]") {
  const auto some = at::tensor({1., 0.}, at::kDouble), none = at::zeros({0}, at::kFloat);
  for (const auto& layout : every_layout({2, 3}))
    for (const auto& given : {some, none, some.to(at::kComplexFloat)}) {
      auto x = distribute(at::arange(6, at::kInt).reshape({2, 3}), layout);
      const auto p = distribute(given, ht::Layout({given.numel()}, 0, ht::world().size()));
      for (const auto mode : {ht::IndexMode::raise, ht::IndexMode::wrap, ht::IndexMode::clip}) {
        CHECK_THROWS_AS(ht::take(x, p, {.axis = 0, .mode = mode}), ht::IndexError);
        CHECK_THROWS_AS(ht::put(x, p, 7, {.mode = mode}), ht::IndexError);
        CHECK_THROWS_AS(ht::choose(p, {x(0, 0), x(0, 1)}, {.mode = mode}), ht::IndexError);
        CHECK_THROWS_AS(ht::ravel_multi_index({p, p}, {2, 3}, {.mode = mode}), ht::IndexError);
      }
      CHECK_THROWS_AS(ht::unravel_index(p, {2, 3}), ht::IndexError);
      CHECK_THROWS_AS(ht::insert(x, p, 7), ht::IndexError);
      CHECK_THROWS_AS(ht::delete_(x, p), ht::IndexError);
      CHECK_THROWS_AS(ht::take_along_axis(x, p, std::nullopt), ht::IndexError);
      CHECK_THROWS_AS(ht::put_along_axis(x, p, 7, std::nullopt), ht::IndexError);
      CHECK_THROWS_AS(ht::put_along_axis(x, x, 7, std::nullopt), ht::ValueError);
      CHECK_THROWS_AS(ht::take_along_axis(x, x * 0.5, 1), ht::IndexError);
      CHECK_THROWS_AS(ht::put_along_axis(x, x * 0.5, 7, 1), ht::IndexError);
      CHECK_THROWS_AS(ht::take_along_axis(x, x > 0, 1), ht::IndexError);
      CHECK(same(x, at::arange(6, at::kInt).reshape({2, 3})));
    }
}

TEST_CASE("bool positions count as 0 and 1 in functions of NumPy that take them", "[ops][selection]") {
  for (const auto& layout : every_layout({2})) {
    const auto b = distribute(at::tensor({1, 0}).to(at::kBool), layout);
    auto x = distribute(longs({5, 6}), layout);
    CHECK(same(ht::take(x, b, {.mode = ht::IndexMode::wrap}), longs({6, 5})));
    CHECK(same(ht::choose(b, {x, x * 10}), longs({50, 6})));
    CHECK(same(ht::unravel_index(b, {2, 3})[1], longs({1, 0})));
    CHECK(same(ht::ravel_multi_index({b, x - 4}, {2, 3}), longs({4, 2})));
    ht::put(x, b, ht::array({8, 9}));
    CHECK(same(x, longs({9, 8})));
  }
}

TEST_CASE("empty positions may have any range", "[ops][positions][host]") {
  const auto far = at::full({1, 1}, 7, at::kLong), none = at::empty({0}, at::kLong);
  for (const auto& layout : every_layout({3, 4}))
    for (const auto& cut : every_layout({1, 1})) {
      auto x = distribute(at::ones({3, 4}), layout);
      const auto a = distribute(far, cut), b = distribute(none, ht::Layout({0}, 0, ht::world().size()));
      CHECK(same(x(a, b), at::empty({1, 0})));
      CHECK(same(x(b, a), at::empty({1, 0})));
      CHECK_NOTHROW(x.index_put({a, b}, 2));
      CHECK(same(x, at::ones({3, 4})));
      CHECK_THROWS_AS(x(7, b), ht::IndexError);
      CHECK_THROWS_AS(x(ht::array(7), b), ht::IndexError);
      CHECK_THROWS_AS(x(a), ht::IndexError);
    }
  const auto seven = ht::array({7}, {.split = 0});
  for (const auto& layout : every_layout({0, 3})) {
    auto x = distribute(at::empty({0, 3}), layout);
    CHECK_THROWS_AS(x(ht::all_of, seven), ht::IndexError);
    CHECK_THROWS_AS(x(seven), ht::IndexError);
    CHECK(same(ht::take(x, seven, 1), at::empty({0, 1})));
    for (const auto mode : {ht::IndexMode::raise, ht::IndexMode::wrap, ht::IndexMode::clip}) {
      CHECK_THROWS_AS(ht::take(x, seven, {.axis = 0, .mode = mode}), ht::IndexError);
      CHECK_THROWS_AS(ht::take(x, seven, {.mode = mode}), ht::IndexError);
      CHECK_THROWS_AS(ht::put(x, seven, 1, {.mode = mode}), ht::IndexError);
      CHECK(same(ht::take(x, ht::array({7}) - 4 - 3, {.axis = 1, .mode = mode}), at::empty({0, 1})));
    }
    CHECK_THROWS_AS(ht::take_along_axis(x, ht::zeros({1, 3}, {.dtype = ht::int64}), 0), ht::IndexError);
    CHECK_THROWS_AS(ht::delete_(x, seven, 1), ht::IndexError);
    CHECK(same(ht::compress(distribute(longs({0, 1, 0, 0, 1}), ht::Layout({5}, 0, ht::world().size())), x, 1),
               at::empty({0, 2})));
    CHECK(same(ht::take(ht::expand_dims(x, 1)(whole, ht::slice(0, 0)), seven, 1), at::empty({0, 1, 3})));
    CHECK(same(ht::ravel_multi_index({x.astype(ht::int64), ht::full({1, 3}, 7, {.dtype = ht::int64})}, {2, 0}),
               at::empty({0, 3}, at::kLong)));
  }
  for (const auto& layout : every_layout({3, 0})) {
    auto x = distribute(at::empty({3, 0}), layout);
    CHECK_THROWS_AS(x(seven), ht::IndexError);
    CHECK_THROWS_AS(x(7), ht::IndexError);
    CHECK_THROWS_AS(ht::take(x, seven, 0), ht::IndexError);
    CHECK_THROWS_AS(x.index_put({seven}, 1), ht::IndexError);
    CHECK_THROWS_AS(ht::take(x, seven, {.axis = 1, .mode = ht::IndexMode::clip}), ht::IndexError);
    CHECK(same(ht::take(x, seven, {.axis = 0, .mode = ht::IndexMode::clip}), at::empty({1, 0})));
  }
}

TEST_CASE("positions in the array's own memory count as they were", "[ops][positions]") {
  for (const auto& layout : every_layout({3, 2})) {
    auto x = distribute(longs({2, 0, 1, 1, 0, 1}).reshape({3, 2}), layout);
    x.index_put({x(whole, 0), x(whole, 1)}, 1);
    CHECK(same(x, longs({2, 1, 1, 1, 1, 1}).reshape({3, 2})));
  }
  for (const auto& layout : every_layout({4})) {
    const auto after = [&](auto write) {
      auto next = distribute(longs({1, 2, 0, 0}), layout);
      write(next);
      return next;
    };
    CHECK(same(after([](auto& p) { p.index_put({p}, 5); }), longs({5, 5, 5, 0})));
    CHECK(same(after([](auto& p) { p.index_put({p}, p); }), longs({0, 1, 2, 0})));
    CHECK(same(after([](auto& p) { p.index_put({p(ht::slice(0, 2))}, 5); }), longs({1, 5, 5, 0})));
    CHECK(same(after([](auto& p) { ht::put_along_axis(p, p, 9, 0); }), longs({9, 9, 9, 0})));
  }
}
