#include "../../support.hpp"

#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/joining/repeat.hpp>
#include <heatpp/ops/padding/pad.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

namespace {

at::Tensor cube() { return at::arange(5 * 4 * 3, at::kInt).reshape({5, 4, 3}); }

}  // namespace

TEST_CASE("axes move without moving elements", "[ops][axes]") {
  const auto global = cube();
  for (const auto& layout : every_layout({5, 4, 3})) {
    const auto x = distribute(global, layout);
    const auto before = ht::comm_report().bytes;
    const auto a = ht::transpose(x), b = ht::transpose(x, {1, 2, 0}), c = ht::swapaxes(x, 0, -1),
               d = ht::moveaxis(x, {0, 1}, {-1, 0}), e = ht::rollaxis(x, 2), f = ht::matrix_transpose(x),
               g = ht::expand_dims(x, {0, -1}), h = ht::rollaxis(x, 0, 3);
    CHECK(ht::comm_report().bytes == before);
    CHECK(same(a, global.permute({2, 1, 0})));
    CHECK(same(b, global.permute({1, 2, 0})));
    CHECK(same(c, global.permute({2, 1, 0})));
    CHECK(same(d, global.movedim({0, 1}, {-1, 0})));
    CHECK(same(e, global.movedim(2, 0)));
    CHECK(same(f, global.mT()));
    CHECK(same(g, global.unsqueeze(0).unsqueeze(-1)));
    CHECK(same(h, global.movedim(0, 2)));
    CHECK(same(ht::squeeze(g), global));
    CHECK(same(ht::squeeze(g, -1), global.unsqueeze(0)));
    CHECK(same(ht::flip(x), global.flip({0, 1, 2})));
    CHECK(same(ht::flipud(x), global.flip(0)));
    CHECK(same(ht::fliplr(x), global.flip(1)));
    for (const int k : {-1, 0, 1, 2, 3}) CHECK(same(ht::rot90(x, k), at::rot90(global, k, {0, 1})));
    CHECK(same(ht::rot90(x, 1, {2, 0}), at::rot90(global, 1, {2, 0})));
  }
  for (const auto& layout : every_layout({1, 3, 1})) {
    const auto thin = at::arange(3).reshape({1, 3, 1});
    CHECK(same(ht::squeeze(distribute(thin, layout)), thin.squeeze()));
    CHECK(same(ht::squeeze(distribute(thin, layout), 0), thin.squeeze(0)));
    CHECK(same(ht::broadcast_to(distribute(thin, layout), {2, 4, 3, 5}), thin.expand({2, 4, 3, 5})));
  }
  CHECK(ht::atleast_3d(ht::ones({2, 3})).shape() == ht::Shape{2, 3, 1});
  CHECK(ht::atleast_3d(ht::ones({2})).shape() == ht::Shape{1, 2, 1});
  CHECK(ht::atleast_2d(ht::ones({2})).shape() == ht::Shape{1, 2});
  const auto x = ht::ones({5, 4}, {.split = 0});
  CHECK_THROWS_AS(ht::transpose(x, {0, 0}), ht::ValueError);
  CHECK_THROWS_AS(ht::transpose(x, {0}), ht::ValueError);
  CHECK_THROWS_WITH(ht::squeeze(x, 1), Catch::Contains("[squeeze] got axis 1 of an array of shape (5, 4)"));
  CHECK_THROWS_AS(ht::broadcast_to(x, {5, 3}), ht::ValueError);
  CHECK_THROWS_AS(ht::flip(x, 2), ht::IndexError);
  const auto vector = ht::ones({4}, {.split = 0}), number = ht::full({}, 1.0);
  CHECK_THROWS_AS(ht::fliplr(vector), ht::ValueError);
  CHECK_THROWS_AS(ht::flipud(number), ht::ValueError);
  CHECK_THROWS_AS(ht::rot90(vector), ht::ValueError);
}

TEST_CASE("arrays are stretched to their common shape, and numbers get axes", "[ops][axes]") {
  const auto global = at::arange(6).reshape({3, 2});
  for (const auto& layout : every_layout({3, 2})) {
    const auto x = distribute(global, layout);
    const auto all = ht::broadcast_arrays({x, ht::arange(2), ht::ones({2, 1, 1})});
    CHECK(same(all[0], global.expand({2, 3, 2})));
    CHECK(same(all[1], at::arange(2).expand({2, 3, 2})));
    CHECK(same(all[2], at::ones({2, 3, 2})));
    CHECK(same(ht::permute_dims(x, {1, 0}), global.t()));
    CHECK(same(ht::concat({x, x}, 1), at::cat({global, global}, 1)));
    CHECK(same(ht::concat({x, x}, std::nullopt), at::cat({global, global}).flatten()));
    CHECK(same(ht::atleast_1d(x), global));
  }
  CHECK(ht::atleast_1d(ht::full({}, 3)).shape() == ht::Shape{1});
  CHECK_THROWS_AS(ht::broadcast_arrays({ht::ones({3}), ht::ones({2}, {.split = 0})}), ht::ValueError);
}

TEST_CASE("arrays of any layouts are joined", "[ops][join][host]") {
  const auto a = cube(), b = at::arange(5 * 2 * 3, at::kInt).reshape({5, 2, 3}) - 100, c = a + 1000;
  for (const auto& layout : every_layout({5, 4, 3})) {
    auto x = distribute(a, layout);
    for (const auto& other : every_layout({5, 2, 3})) {
      CHECK(same(ht::concatenate({x, distribute(b, other)}, 1), at::cat({a, b}, 1)));
      CHECK(same(ht::concatenate({distribute(b, other), x, x}, -2), at::cat({b, a, a}, 1)));
    }
    const auto z = distribute(c, ht::Layout({5, 4, 3}, 1, ht::world().size()));
    for (const int axis : {0, 1, 2, 3, -1}) CHECK(same(ht::stack({x, z, x}, axis), at::stack({a, c, a}, axis)));
    CHECK(same(ht::vstack({x, z}), at::cat({a, c}, 0)));
    CHECK(same(ht::hstack({x, z}), at::cat({a, c}, 1)));
    CHECK(same(ht::dstack({x, z}), at::cat({a, c}, 2)));
    CHECK(same(ht::append(x, z), at::cat({a.flatten(), c.flatten()})));
    CHECK(same(ht::insert(x, 2, ht::full({4, 3}, -7), 0),
               at::cat({a.slice(0, 0, 2), at::full({1, 4, 3}, -7, at::kInt), a.slice(0, 2)})));
    CHECK(same(ht::delete_(x, {1, -1}, 1), at::cat({a.slice(1, 0, 1), a.slice(1, 2, 3)}, 1)));
  }
  const auto v = at::arange(5);
  for (const auto& layout : every_layout({5})) {
    const auto x = distribute(v, layout);
    CHECK(same(ht::hstack({x, x}), at::cat({v, v})));
    CHECK(same(ht::column_stack({x, x}), at::stack({v, v}, 1)));
    CHECK(same(ht::row_stack({x, x}), at::stack({v, v}, 0)));
    CHECK(same(ht::block({{x, x}, {x + 0, x}}), at::cat({v, v}).expand({2, 10})));
  }
  CHECK(ht::concatenate({ht::ones({2}, {.dtype = ht::int8}), ht::ones({2}, {.dtype = ht::float64})}).dtype() ==
        ht::float64);
  CHECK_THROWS_AS(ht::concatenate({}), ht::ValueError);
  CHECK_THROWS_WITH(ht::concatenate({ht::ones({2, 3}), ht::ones({2, 4})}), Catch::Contains("(2, 3) and (2, 4)"));
}

TEST_CASE("arrays are rolled, repeated, tiled and resized", "[ops][join]") {
  const auto global = cube();
  for (const auto& layout : every_layout({5, 4, 3})) {
    const auto x = distribute(global, layout);
    for (const int shift : {0, 1, -2, 7, -13}) {
      for (const int axis : {0, 1, 2}) CHECK(same(ht::roll(x, shift, axis), at::roll(global, shift, axis)));
      CHECK(same(ht::roll(x, shift), at::roll(global, shift)));
    }
    CHECK(ht::roll(x, 1, 0).layout() == layout);
    for (const int axis : {0, 1, 2}) CHECK(same(ht::repeat(x, 2, axis), at::repeat_interleave(global, 2, axis)));
    CHECK(same(ht::repeat(x, 3), at::repeat_interleave(global, 3)));
    CHECK(same(ht::repeat(x, {0, 2, 1, 3}, 1), at::repeat_interleave(global, at::tensor({0, 2, 1, 3}), 1)));
    CHECK(same(ht::repeat(x, {1, 0, 2, 0, 1}, 0), at::repeat_interleave(global, at::tensor({1, 0, 2, 0, 1}), 0)));
    CHECK(same(ht::tile(x, {2, 1, 3}), at::tile(global, {2, 1, 3})));
    CHECK(same(ht::tile(x, {2, 1, 2, 1}), at::tile(global, {2, 1, 2, 1})));
    CHECK(same(ht::tile(x, {0}), at::tile(global, {0})));
    CHECK(same(ht::resize(x, {7, 11}), at::arange(77, at::kInt).remainder(60).reshape({7, 11})));
    CHECK(same(ht::resize(x, {2, 2}), at::arange(4, at::kInt).reshape({2, 2})));
  }
  CHECK_THROWS_AS(ht::repeat(ht::ones({3}), {1, 2}, 0), ht::ValueError);
  CHECK_THROWS_AS(ht::repeat(ht::ones({3}), -1, 0), ht::ValueError);
  CHECK_THROWS_AS(ht::repeat(ht::ones({3}), std::int64_t{1} << 62, 0), ht::ValueError);
}

TEST_CASE("padding grows the first and the last block", "[ops][join]") {
  const auto global = cube().to(at::kDouble);
  const auto oracle = [&](const char* mode) {
    return at::pad(global.unsqueeze(0), {1, 2, 3, 0, 2, 1}, mode).squeeze(0);
  };
  for (const auto& layout : every_layout({5, 4, 3})) {
    const auto x = distribute(global, layout);
    const ht::PadWidths widths{{2, 1}, {3, 0}, {1, 2}};
    CHECK(same(ht::pad(x, widths, {.value = 7}), at::constant_pad_nd(global, {1, 2, 3, 0, 2, 1}, 7)));
    CHECK(same(ht::pad(x, {{1, 1}}), at::constant_pad_nd(global, {1, 1, 1, 1, 1, 1}, 0)));
    CHECK(same(ht::pad(x, widths, {.mode = ht::PadMode::edge}), oracle("replicate")));
    CHECK(same(ht::pad(x, widths, {.mode = ht::PadMode::reflect}), oracle("reflect")));
    CHECK(same(ht::pad(x, widths, {.mode = ht::PadMode::wrap}), oracle("circular")));
    CHECK(same(ht::pad(x, {{2, 0}, {0, 0}, {0, 4}}, {.mode = ht::PadMode::symmetric}),
               global.index({at::tensor({1, 0, 0, 1, 2, 3, 4})}).index({"...", at::tensor({0, 1, 2, 2, 1, 0, 0})})));
    CHECK(ht::pad(x, widths, {.mode = ht::PadMode::empty}).shape() == ht::Shape{8, 7, 6});
  }
  CHECK_THROWS_AS(ht::pad(ht::ones({3}), {{-1, 0}}), ht::ValueError);
  CHECK_THROWS_AS(ht::pad(ht::ones({3, 3, 3}), {{1, 0}, {1, 1}}), ht::ValueError);
}

TEST_CASE("values are inserted at several positions", "[ops][join][host]") {
  const auto v = at::arange(5), m = at::arange(6).reshape({2, 3});
  for (const auto& layout : every_layout({5})) {
    auto x = distribute(v, layout), values = ht::array({10, 20, 30}, {.split = 0});
    CHECK(same(ht::insert(x, {4, 1, 1}, values), at::tensor({0, 20, 30, 1, 2, 3, 10, 4}, at::kLong)));
    CHECK(same(ht::insert(x, {0, -1}, ht::full({}, 7)), at::tensor({7, 0, 1, 2, 3, 7, 4}, at::kLong)));
    CHECK(same(ht::delete_(x, ht::slice(3, std::nullopt, -2)), at::tensor({0, 2, 4}, at::kLong)));
    CHECK(same(ht::delete_(x, x > 2), at::tensor({0, 1, 2}, at::kLong)));
    CHECK(same(ht::delete_(x, -2), at::tensor({0, 1, 2, 4}, at::kLong)));
    CHECK_THROWS_AS(ht::insert(x, {0, 6}, ht::full({}, 7)), ht::IndexError);
  }
  for (const auto& layout : every_layout({2, 3})) {
    auto x = distribute(m, layout);
    CHECK(same(ht::insert(x, 1, ht::array({7, 8})), at::tensor({0, 7, 8, 1, 2, 3, 4, 5}, at::kLong)));
    CHECK(
        same(ht::insert(x, 1, ht::array({7, 8}), 1), at::tensor({0, 7, 1, 2, 3, 8, 4, 5}, at::kLong).reshape({2, 4})));
    CHECK(same(ht::delete_(x, {0, 4}), at::tensor({1, 2, 3, 5}, at::kLong)));
    CHECK(same(ht::roll(x, {1, -1}, {0, 1}), m.roll({1, -1}, {0, 1})));
    CHECK(same(ht::roll(x, {1}, {0, 1}), m.roll({1, 1}, {0, 1})));
    CHECK_THROWS_AS(ht::roll(x, {1, 2, 3}, {0, 1}), ht::ValueError);
  }
}

TEST_CASE("padding by ramps and statistics is NumPy's", "[ops][pad]") {
  const auto global = at::tensor({1, 2, 9, 4, 3, 5}, at::kLong).reshape({2, 3});
  using enum ht::PadMode;
  for (const auto& layout : every_layout({2, 3})) {
    const auto x = distribute(global, layout);
    const auto rows = [&](const ht::PadOptions& options) { return ht::pad(x, {{2, 0}, {0, 1}}, options); };
    CHECK(same(rows({.mode = maximum}),
               at::tensor({4, 3, 9, 9, 4, 3, 9, 9, 1, 2, 9, 9, 4, 3, 5, 5}, at::kLong).reshape({4, 4})));
    CHECK(same(rows({.mode = minimum}),
               at::tensor({1, 2, 5, 1, 1, 2, 5, 1, 1, 2, 9, 1, 4, 3, 5, 3}, at::kLong).reshape({4, 4})));
    CHECK(same(rows({.mode = mean}),
               at::tensor({2, 2, 7, 4, 2, 2, 7, 4, 1, 2, 9, 4, 4, 3, 5, 4}, at::kLong).reshape({4, 4})));
    CHECK(same(rows({.mode = mean, .stat_length = 1}),
               at::tensor({1, 2, 9, 9, 1, 2, 9, 9, 1, 2, 9, 9, 4, 3, 5, 5}, at::kLong).reshape({4, 4})));
    CHECK(same(ht::pad(x.astype(ht::float64), {{0, 0}, {0, 2}}, {.mode = median}),
               at::tensor({1., 2., 9., 2., 2., 4., 3., 5., 4., 4.}, at::kDouble).reshape({2, 5})));
    CHECK(same(ht::pad(x, {{0, 0}, {2, 2}}, {.mode = linear_ramp, .value = 0}),
               at::tensor({0, 0, 1, 2, 9, 4, 0, 0, 2, 4, 3, 5, 2, 0}, at::kLong).reshape({2, 7})));
  }
  CHECK_THROWS_AS(ht::pad(ht::zeros({0}, {.split = 0}), {{1, 1}}, {.mode = mean}), ht::ValueError);
}

TEST_CASE("ramps of 16-bit floats do not overflow, and means of empty arrays are NaN", "[ops][pad]") {
  const auto ends = at::tensor({0.1, 60000.}, at::kDouble).to(at::kHalf);
  const auto steps = at::arange(7, at::kDouble);
  const auto ramps = at::cat({steps * ((ends[0].item<double>() + 60000) / 7) - 60000, ends.to(at::kDouble),
                              (steps * (59997. / 7) + 3).flip(0)});
  using enum ht::PadMode;
  for (const auto& layout : every_layout({2})) {
    const auto padded = ht::pad(distribute(ends, layout), {{7, 7}}, {.mode = linear_ramp, .values = {{-60000, 3}}});
    CHECK(same(padded, ramps.to(at::kHalf)));
  }
  const auto global = at::arange(6, at::kDouble).reshape({2, 3});
  for (const auto& layout : every_layout({2, 3})) {
    const auto x = distribute(global, layout);
    for (const auto mode : {mean, median})
      CHECK(same(ht::pad(x, {{0, 0}, {1, 2}}, {.mode = mode, .stat_length = 0}),
                 at::constant_pad_nd(global, {1, 2}, NAN)));
    for (const auto mode : {maximum, minimum})
      for (const std::int64_t width : {0, 1})
        CHECK_THROWS_AS(ht::pad(x, {{width, width}}, {.mode = mode, .stat_length = 0}), ht::ValueError);
    CHECK_THROWS_AS(ht::pad(x.astype(ht::int64), {{1, 1}}, {.mode = mean, .stat_length = 0}), ht::ValueError);
    CHECK_THROWS_AS(ht::pad(x, {{1, 1}}, {.mode = mean, .stat_length = -1}), ht::ValueError);
  }
}

TEST_CASE("truth beside truth is whether a statistic is not 0", "[ops][pad]") {
  const auto truth = [](const std::vector<int>& bits) { return at::tensor(bits, at::kInt).to(at::kBool); };
  const auto global = truth({1, 0, 0, 1, 0});
  using enum ht::PadMode;
  for (const auto& layout : every_layout({5})) {
    const auto x = distribute(global, layout);
    const auto padded = [&](const ht::PadOptions& options) { return ht::pad(x, {{1, 2}}, options); };
    CHECK(same(padded({.mode = mean}), truth({1, 1, 0, 0, 1, 0, 1, 1})));
    CHECK(same(padded({.mode = median}), truth({0, 1, 0, 0, 1, 0, 0, 0})));
    CHECK(same(padded({.mode = median, .stat_length = 2}), truth({1, 1, 0, 0, 1, 0, 1, 1})));
    CHECK(same(padded({.mode = mean, .stat_length = 0}), truth({1, 1, 0, 0, 1, 0, 1, 1})));
    CHECK(same(padded({.mode = linear_ramp, .value = 1}), truth({1, 1, 0, 0, 1, 0, 1, 1})));
    CHECK(same(ht::pad(x, {{3, 0}}, {.mode = linear_ramp}), truth({0, 1, 1, 1, 0, 0, 1, 0})));
  }
}
