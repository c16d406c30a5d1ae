#include "../../support.hpp"

#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/reductions/describe.hpp>
#include <heatpp/ops/reductions/moments.hpp>
#include <heatpp/ops/reductions/reduce.hpp>

namespace {

at::Tensor numbers(const ht::Shape& shape, at::ScalarType type) {
  return ((at::arange(ht::size_of(shape), at::kDouble) * 0.618).frac() * 200 - 90).reshape(shape).to(type);
}

void check_description(const ht::DNDarray& x, const at::Tensor& global, at::IntArrayRef dims, bool keepdims) {
  const std::vector<int> axes(dims.begin(), dims.end());
  const auto [count, mean, std, min, max] = ht::describe(x, {.axis = axes, .ddof = 1, .keepdims = keepdims});
  const auto numbers = global.to(at::kDouble);
  const auto precise = x.dtype() == ht::float64 || x.dtype() == ht::int64 ? 1e-12 : 1e-6;
  CHECK(count * std.size() == x.size());
  CHECK(close(mean.astype(ht::float64), numbers.mean(dims, keepdims), precise));
  CHECK(close(std.astype(ht::float64), numbers.std(dims, true, keepdims), precise));
  CHECK(same(min, global.amin(dims, keepdims)));
  CHECK(same(max, global.amax(dims, keepdims)));
  CHECK(mean.dtype() == ht::inexact_type(x.dtype()));
  CHECK(std.dtype() == mean.dtype());
  CHECK(min.split() == ht::min(x, {.axis = axes, .keepdims = keepdims}).split());
  CHECK(std.split() == min.split());
}

}  // namespace

TEST_CASE("descriptions equal LibTorch's functions for every layout, dtype and set of axes", "[ops][describe]") {
  const auto type = GENERATE(at::kFloat, at::kDouble, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong);
  const ht::Shape shape = GENERATE(ht::Shape{70, 3}, ht::Shape{3, 5, 20}, ht::Shape{40, 131});
  const auto global = numbers(shape, type);
  for (const auto& layout : every_layout(shape)) {
    const auto x = distribute(global, layout);
    const bool keepdims = type == at::kFloat;
    check_description(x, global, {0}, keepdims);
    check_description(x, global, {1}, keepdims);
    check_description(x, global, {0, 1}, keepdims);
    if (shape.size() == 3) check_description(x, global, {0, 2}, keepdims);
    const auto all = ht::describe(x);
    CHECK(all.count == x.size());
    CHECK(same(all.min, global.min()));
  }
}

TEST_CASE("columns that are cut into parts have the extremes of all parts", "[ops][describe]") {
  auto global = numbers({3, 70001, 2}, at::kDouble);
  global[1][70000][0] = 1e9;
  global[2][0][1] = -1e9;
  for (const auto& layout :
       {ht::Layout({3, 70001, 2}, 1, ht::world().size()), ht::Layout({3, 70001, 2}, 0, ht::world().size())})
    check_description(distribute(global, layout), global, {1}, false);
}

TEST_CASE("a description is one call and 48 bytes for each result", "[ops][describe]") {
  const auto x = ht::ones({8, 4}, {.dtype = ht::float64, .split = 0});
  const auto before = ht::comm_report();
  static_cast<void>(ht::describe(x, 0));
  const auto after = ht::comm_report();
  CHECK(after.calls - before.calls == (ht::world().size() > 1));
}

TEST_CASE("extremes of whole numbers are exact, of numbers with NaN NaN", "[ops][describe]") {
  constexpr auto large = (std::int64_t{1} << 53) + 1;
  const auto whole = at::tensor({large, -large, std::int64_t{0}}, at::kLong);
  const auto missing = at::tensor({1.0, NAN, -2.0, INFINITY}, at::kDouble);
  for (const auto& layout : every_layout({3})) {
    const auto found = ht::describe(distribute(whole, layout));
    CHECK(found.max.item<std::int64_t>() == large);
    CHECK(found.min.item<std::int64_t>() == -large);
    CHECK(found.mean.item<double>() == 0);
  }
  for (const auto& layout : every_layout({4})) {
    const auto found = ht::describe(distribute(missing, layout));
    for (const auto& result : {found.mean, found.std, found.min, found.max}) CHECK(std::isnan(result.item<double>()));
  }
}

TEST_CASE("least and largest of columns beside NaN and infinities", "[ops][reduce]") {
  auto global = numbers({100, 7}, at::kDouble);
  global[3][0] = NAN;
  global[99][1] = -INFINITY;
  global.select(1, 2).fill_(-INFINITY);
  for (const auto& layout : every_layout({100, 7})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::min(x, 0), global.amin(0)));
    CHECK(same(ht::max(x, {.axis = 0, .keepdims = true}), global.amax(0, true)));
    CHECK(same(ht::describe(x, 0).max, global.amax(0)));
  }
}

TEST_CASE("numbers, bool and short floats are described, empty arrays and complex numbers are not", "[ops][describe]") {
  const auto one = ht::describe(ht::full({}, 2.5));
  CHECK(one.count == 1);
  CHECK(one.max.item<float>() == 2.5f);
  CHECK(one.std.item<float>() == 0);
  CHECK(ht::describe(ht::array({true, false}, {.split = 0})).min.dtype() == ht::bool_);
  CHECK(ht::describe(ht::ones({5}, {.dtype = ht::float16, .split = 0})).mean.dtype() == ht::float16);
  CHECK(ht::describe(ht::zeros({0, 2}, {.split = 0}), 1).mean.size() == 0);
  CHECK_THROWS_WITH(ht::describe(ht::zeros({0, 2}, {.split = 0}), 0), Catch::StartsWith("[describe] got an array"));
  CHECK_THROWS_AS(ht::describe(ht::full({2}, std::complex<double>(1, 2))), ht::TypeError);
  CHECK_THROWS_AS(ht::describe(ht::ones({3}), 1), ht::IndexError);
}
