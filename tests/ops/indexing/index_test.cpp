#include "../../support.hpp"

#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/selection/selection.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

#include <limits>

using at::indexing::None;
using at::indexing::Slice;

TEST_CASE("masks with long runs select elements of any size", "[ops][index]") {
  const auto i = at::arange(3001);
  const auto stretches = at::logical_and(at::remainder(i, 97) < 61, i != 1200), scattered = at::remainder(i * i, 7) < 3;
  for (const auto& mask : {stretches, stretches.logical_not(), scattered, i >= 0, i < 0})
    for (const auto type : {at::kByte, at::kShort, at::kFloat, at::kDouble, at::kComplexDouble})
      for (const auto& layout : every_layout({3001})) {
        const auto global = at::remainder(i, 251).to(type);
        CHECK(same(distribute(global, layout).index({distribute(mask, layout)}), global.masked_select(mask)));
      }
}

TEST_CASE("positions, slices, ellipsis and new axes select as NumPy's", "[ops][index]") {
  const auto global = at::arange(5 * 4 * 3, at::kInt).reshape({5, 4, 3});
  for (const auto& layout : every_layout({5, 4, 3})) {
    const auto x = distribute(global, layout);
    CHECK(same(x(2), global[2]));
    CHECK(same(x(-1, 0), global[-1][0]));
    CHECK(same(x.index({0, ht::slice(1, -1, 2), ht::ellipsis, ht::newaxis}),
               global.index({0, Slice(1, -1, 2), "...", None})));
    CHECK(same(x(ht::ellipsis, 1), global.index({"...", 1})));
    CHECK(same(x(ht::slice(1, 4)), global.index({Slice(1, 4)})));
    CHECK(same(x(ht::slice(std::nullopt, std::nullopt, 3), ht::slice(3, 1)),
               global.index({Slice(None, None, 3), Slice(3, 1)})));
    CHECK(same(x(ht::newaxis, ht::all_of, 2, ht::newaxis, ht::slice(-2, 100)),
               global.index({None, Slice(), 2, None, Slice(-2, 100)})));
    CHECK(same(x.index({}), global));
    CHECK(x(1, 2, 0).item<std::int32_t>() == 18);
  }
}

TEST_CASE("negative steps go back to front", "[ops][index]") {
  const auto global = at::arange(7 * 3, at::kInt).reshape({7, 3});
  for (const auto& layout : every_layout({7, 3})) {
    const auto x = distribute(global, layout);
    CHECK(same(x(ht::slice(std::nullopt, std::nullopt, -1)), global.flip(0)));
    CHECK(same(x(ht::slice(5, 0, -2)), global.index({at::tensor({5, 3, 1})})));
    CHECK(same(x(ht::all_of, ht::slice(std::nullopt, std::nullopt, -2)), global.index({Slice(), at::tensor({2, 0})})));
    CHECK(x(ht::slice(0, 5, -1)).shape() == ht::Shape{0, 3});
  }
}

TEST_CASE("masks keep the order of the elements", "[ops][index]") {
  const auto global = at::arange(5 * 4 * 3, at::kInt).reshape({5, 4, 3});
  for (const auto& layout : every_layout({5, 4, 3})) {
    const auto x = distribute(global, layout);
    for (const auto& cut : every_layout({5})) {
      const auto rows = global.select(1, 0).select(1, 0) % 24 == 0;
      CHECK(same(x(distribute(rows, cut)), global.index({rows})));
    }
    for (const auto& cut : every_layout({4, 3})) {
      const auto inner = global[0] % 2 == 0;
      CHECK(same(x(ht::all_of, distribute(inner, cut)), global.index({Slice(), inner})));
      CHECK(same(x(1, distribute(inner, cut)), global[1].index({inner})));
    }
    CHECK(same(x(x > 17), global.index({global > 17})));
    CHECK(same(x(x < 0), global.index({global < 0})));
    const auto last = at::tensor({1, 0, 1}).to(at::kBool);
    CHECK(same(x(ht::ellipsis, distribute(last, ht::Layout({3}, 0, ht::world().size()))), global.index({"...", last})));
  }
}

TEST_CASE("bad indices are errors on all ranks", "[ops][index]") {
  const auto x = ht::zeros({5, 4}, {.split = 0});
  CHECK_THROWS_WITH(x(5), Catch::Contains("[index] got position 5 along axis 0"));
  CHECK_THROWS_WITH(x(0, -5), Catch::Contains("[index] got position -5 along axis 1 of an array of shape"));
  CHECK_THROWS_AS(x(0, -5), ht::IndexError);
  CHECK_THROWS_AS(x(0, 0, 0), ht::IndexError);
  CHECK_THROWS_AS(x(ht::ellipsis, ht::ellipsis), ht::IndexError);
  CHECK_THROWS_AS(x(ht::slice(0, 1, 0)), ht::ValueError);
  CHECK_THROWS_AS(x(ht::zeros({4}, {.dtype = ht::bool_})), ht::IndexError);
  CHECK_THROWS_AS(x(ht::zeros({5}, {.dtype = ht::float32})), ht::IndexError);
}

TEST_CASE("values are written at a mask, for any cuts of both", "[ops][index]") {
  const auto bits = [](const ht::Shape& shape) { return at::arange(ht::size_of(shape)).view(shape) * 7 % 5 > 1; };
  const std::pair<int, at::Tensor> masks[] = {{0, bits({5})}, {0, bits({5, 4})}, {0, bits({5, 4, 3})},
                                              {1, bits({4})}, {1, bits({4, 3})}, {2, bits({3})}};
  for (const auto type : {at::kHalf, at::kComplexDouble}) {
    const auto global = at::arange(60).reshape({5, 4, 3}).to(type);
    for (const auto& layout : every_layout({5, 4, 3}))
      for (const auto& [axis, mask] : masks)
        for (const auto& cut : every_layout(mask.sizes().vec())) {
          std::vector<ht::Index> entries(static_cast<std::size_t>(axis), ht::all_of);
          entries.emplace_back(distribute(mask, cut));
          std::vector<at::indexing::TensorIndex> at_mask(static_cast<std::size_t>(axis), at::indexing::Slice());
          at_mask.emplace_back(mask);
          auto expected = global.clone();
          expected.index_put_(at_mask, global.index(at_mask) * 2);
          auto x = distribute(global, layout);
          const auto part = std::as_const(x).index(entries) * 2;
          for (const auto& value : {part, ht::resplit(part, std::nullopt), ht::resplit(part, 0)}) {
            auto y = x;
            y.index_put(entries, value);
            CHECK(same(y, expected));
          }
          if (cut.split()) continue;
          auto turned = ht::transpose(distribute(global.permute({2, 1, 0}).contiguous(), layout.replicated({3, 4, 5})));
          turned.index_put(entries, ht::resplit(part, std::nullopt));
          CHECK(same(turned, expected));
          CHECK_THROWS_AS(x.index_put(entries, ht::concatenate({part, part}, axis)), ht::ValueError);
          x.index_put(entries, 9);
          CHECK(same(x, expected.index_put_(at_mask, at::full({}, 9).to(type))));
        }
  }
}

TEST_CASE("masks in the array's own memory count as they were", "[ops][index]") {
  const auto bools = [](const std::vector<std::int64_t>& values, const ht::Shape& shape) {
    return at::tensor(values, at::kLong).to(at::kBool).reshape(shape);
  };
  for (const auto& layout : every_layout({3, 3})) {
    auto x = distribute(bools({0, 1, 0, 0, 0, 1, 0, 0, 0}, {3, 3}), layout);
    x.index_put({ht::transpose(x)}, true);
    CHECK(same(x, bools({0, 1, 0, 1, 0, 1, 0, 1, 0}, {3, 3})));
  }
  for (const auto& layout : every_layout({4, 2})) {
    auto x = distribute(bools({1, 0, 0, 1, 0, 0, 0, 0}, {4, 2}), layout);
    const auto later = ht::slice(1, std::nullopt), former = ht::slice(std::nullopt, -1);
    x(later)(x(former)) = true;
    CHECK(same(x, bools({1, 0, 1, 1, 0, 1, 0, 0}, {4, 2})));
    ht::putmask(x(later), x(former), ht::full({1}, true));
    CHECK(same(x, bools({1, 0, 1, 1, 1, 1, 0, 1}, {4, 2})));
    ht::place(x(later), x(later), ht::full({1}, false));
    CHECK(same(x, bools({1, 0, 0, 0, 0, 0, 0, 0}, {4, 2})));
  }
}

TEST_CASE("of values in any order in memory the last one counts", "[ops][index]") {
  const auto places = (at::arange(49) % 4).view({7, 7}), values = at::arange(49.).view({7, 7}).t();
  for (const auto& layout : every_layout({4, 4})) {
    auto expected = at::zeros({4, 4}, at::kDouble);
    for (std::int64_t k = 0; k < 49; ++k) expected[k % 4].fill_(values[k / 7][k % 7]);
    auto x = distribute(at::zeros({4, 4}, at::kDouble), layout);
    const auto all = ht::Layout({7, 7}, std::nullopt, ht::world().size());
    const auto value = ht::transpose(distribute(values.t().contiguous(), all));
    x.index_put({distribute(places, all)}, ht::expand_dims(value.astype(ht::float64), -1));
    CHECK(same(x, expected));
  }
}

TEST_CASE("positions without axes are written along the split, too", "[ops][index]") {
  const auto two = at::tensor({7., 8.}, at::kDouble);
  const auto three = ht::full({}, 3, {.dtype = ht::int64});
  for (const auto& layout : every_layout({4, 7})) {
    auto x = distribute(at::zeros({4, 7}, at::kDouble), layout);
    const auto v = ht::array({7., 8.}, {.dtype = ht::float64});
    x.index_put({ht::slice(std::nullopt, 3, 2), three}, v);
    auto expected = at::zeros({4, 7}, at::kDouble);
    expected.slice(0, 0, 3, 2).select(1, 3).copy_(two);
    CHECK(same(x, expected));
  }
}

TEST_CASE("an ellipsis separates positions, also if it stands for no axis", "[ops][index]") {
  const auto global = at::arange(42.).view({7, 2, 3});
  const auto i = at::tensor({1, 0, 1}).view({1, 3}), j = at::tensor({2, 0, 2}).view({1, 3});
  for (const auto& layout : every_layout({7, 2, 3})) {
    const auto x = distribute(global, layout);
    const auto all = ht::Layout({1, 3}, std::nullopt, ht::world().size());
    const auto a = distribute(i, all), b = distribute(j, all);
    const auto expected = global.index({Slice(0, 5), i, j}).movedim(0, -1);
    CHECK(same(x(ht::slice(0, 5), a, ht::ellipsis, b), expected));
    CHECK(same(x(ht::slice(0, 5), a, b), expected.movedim(-1, 0)));
    CHECK(same(x(ht::ellipsis, x > 17), global.index({global > 17})));
  }
}

TEST_CASE("slices of any start, stop and step are Python's", "[ops][index]") {
  constexpr auto low = std::numeric_limits<std::int64_t>::min(), high = std::numeric_limits<std::int64_t>::max();
  constexpr auto far = std::int64_t{1} << 62;
  constexpr auto open = std::nullopt;
  struct Case {
    ht::Slice slice;
    std::vector<std::int64_t> of_seven, of_one;
  };
  const std::vector<Case> cases{{{open, open, high}, {0}, {0}},
                                {{open, open, low}, {6}, {0}},
                                {{1, open, far}, {1}, {}},
                                {{-2, open, far + 1}, {5}, {0}},
                                {{high, low, -1}, {6, 5, 4, 3, 2, 1, 0}, {0}},
                                {{low, high, 1}, {0, 1, 2, 3, 4, 5, 6}, {0}},
                                {{low, high, far}, {0}, {0}},
                                {{high, low, -far}, {6}, {0}},
                                {{high, open, 1}, {}, {}},
                                {{open, low, -3}, {6, 3, 0}, {0}},
                                {{5, 0, low}, {5}, {}},
                                {{low, open, low}, {}, {}}};
  for (const std::int64_t n : {7, 1, 0})
    for (const auto& layout : every_layout({n, 2}))
      for (const auto& [slice, of_seven, of_one] : cases) {
        const auto global = at::arange(n * 2).reshape({n, 2});
        auto x = distribute(global, layout);
        const auto taken = at::tensor(n == 7 ? of_seven : n == 1 ? of_one : std::vector<std::int64_t>{}, at::kLong);
        CHECK(same(x(slice), global.index_select(0, taken)));
        x.index_put({slice}, -1);
        CHECK(same(x, global.index_fill(0, taken, -1)));
      }
}

TEST_CASE("positions are of any integer type, and pointers no truth values", "[ops][index]") {
  static_assert(!std::convertible_to<const char*, ht::Index>);
  const auto x = ht::arange(4, {.split = 0});
  CHECK(x(std::size_t{2}).item<int>() == 2);
  CHECK(x(1U).item<int>() == 1);
  CHECK(x(-1LL).item<int>() == 3);
  CHECK(x(std::int8_t{-2}).item<int>() == 2);
  CHECK(x(true).shape() == ht::Shape{1, 4});
  CHECK_THROWS_AS(x(SIZE_MAX), ht::ValueError);
}

TEST_CASE("errors for values that do not fit a selection have both shapes", "[ops][index][host]") {
  for (const auto& layout : every_layout({3, 2})) {
    auto x = distribute(at::zeros({3, 2}), layout);
    CHECK_THROWS_WITH(x(0) = ht::ones({4}),
                      Catch::Contains("[index_put] got an array of shape (4,) for a part of shape (2,); expected"));
    CHECK_THROWS_WITH(x(ht::slice(0, 2), 1) = ht::ones({3, 2}),
                      Catch::Contains("of shape (3, 2) for a part of shape (2,)"));
    x(0) = ht::ones({1, 1, 2});
    CHECK(same(x, at::tensor({1.f, 1.f, 0.f, 0.f, 0.f, 0.f}).reshape({3, 2})));
  }
}

TEST_CASE("vectors of truth values are masks that are equal on all ranks", "[ops][index]") {
  const auto global = at::arange(12).reshape({4, 3});
  const std::vector<bool> rows{true, false, true, true}, columns{false, true, true};
  const auto at_rows = at::tensor({0, 2, 3}, at::kLong), at_columns = at::tensor({1, 2}, at::kLong);
  for (const auto& layout : every_layout({4, 3})) {
    auto x = distribute(global.clone(), layout);
    CHECK(same(x(rows), global.index_select(0, at_rows)));
    CHECK(same(x(ht::ellipsis, columns), global.index_select(1, at_columns)));
    x(rows) = -1;
    CHECK(same(x, global.index_fill(0, at_rows, -1)));
    CHECK_THROWS_AS(x(columns), ht::IndexError);
  }
}

TEST_CASE("one element takes numbers, and no arrays with axes", "[ops][index][host]") {
  const auto one = ht::full({}, 1, {.dtype = ht::int64}), number = ht::full({}, 7.0);
  for (const auto& layout : every_layout({6, 2})) {
    auto x = distribute(at::zeros({6, 2}, at::kDouble), layout), zero = ht::zeros({});
    for (const auto& value : {ht::ones({1}), ht::ones({1, 1}), ht::ones({1}, {.split = 0})}) {
      CHECK_THROWS_WITH(x.index_put({-5, 1}, value), Catch::Contains("[index_put] got an array of shape (1"));
      CHECK_THROWS_AS(x.index_put({one, 1}, value), ht::ValueError);
      CHECK_THROWS_AS(zero.index_put({}, value), ht::ValueError);
      x.index_put({-5, 1, ht::ellipsis}, value);
      x.index_put({std::vector<std::int64_t>{2}, 1}, value);
    }
    x.index_put({3, one}, number);
    CHECK(same(x, at::tensor({0., 0., 0., 1., 0., 1., 0., 7., 0., 0., 0., 0.}, at::kDouble).reshape({6, 2})));
  }
}

TEST_CASE("operators in place on a selection write to the array, view or copy", "[ops][index][host]") {
  const auto longs = [](const std::vector<std::int64_t>& values) { return at::tensor(values, at::kLong); };
  const std::vector<std::int64_t> rows{2, 0, 2};
  for (const auto& layout : every_layout({4, 3})) {
    auto expected = at::arange(12).view({4, 3});
    auto x = distribute(expected.clone(), layout);
    x(1) += 100;
    x(ht::all_of, -1) *= 2;
    x(x > 100) -= 50;
    x(rows) += 1000;
    x(ht::slice(std::nullopt, std::nullopt, -1), 0) += ht::array({1, 2, 3, 4});
    x(3, 1) += 7;
    expected[1] += 100;
    expected.select(1, 2).mul_(2);
    expected.masked_scatter_(expected > 100, expected.masked_select(expected > 100) - 50);
    expected.index_put_({longs({0, 2})}, expected.index({longs({0, 2})}) + 1000);
    expected.select(1, 0).add_(longs({4, 3, 2, 1}));
    expected[3][1] += 7;
    CHECK(same(x, expected));
    CHECK(same(x(2) += 1, expected[2] + 1));
    CHECK_THROWS_AS(x(ht::array({0, 1})) += 0.5, ht::TypeError);
  }
}

TEST_CASE("a list of entries may be made at run time", "[ops][index]") {
  const auto global = at::arange(24).view({2, 3, 4});
  for (const auto& layout : every_layout({2, 3, 4})) {
    auto x = distribute(global.clone(), layout);
    std::vector<ht::Index> entries(2, ht::all_of);
    entries.emplace_back(ht::array({3, 0}));
    CHECK(same(x.index(entries), global.index_select(2, at::tensor({3, 0}))));
    x.index_put(entries, 7);
    CHECK(same(x.index(entries), at::full({2, 3, 2}, 7)));
  }
}
