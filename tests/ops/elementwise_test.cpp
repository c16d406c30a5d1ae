#include "../support.hpp"

#include <heatpp/ops/elementwise.hpp>

namespace {

at::Tensor numbers(const ht::Shape& shape, double shift = 0.5) {
  return at::arange(ht::size_of(shape), at::kDouble).reshape(shape) * 0.37 - shift;
}

}  // namespace

TEST_CASE("unary functions equal LibTorch's for every layout", "[ops][elementwise]") {
  const auto global = numbers({5, 3});
  for (const auto& layout : every_layout({5, 3})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::sqrt(x), global.sqrt()));
    CHECK(same(ht::exp(x), global.exp()));
    CHECK(same(-x, -global));
    CHECK(same(ht::round(x), global.round()));
    CHECK(same(ht::isnan(ht::sqrt(x)), global.sqrt().isnan()));
    CHECK(ht::abs(x).layout() == layout);
  }
}

TEST_CASE("binary functions take any mix of layouts", "[ops][elementwise]") {
  const auto a = numbers({4, 5}), b = numbers({4, 5}, 2);
  for (const auto& layout_a : every_layout({4, 5}))
    for (const auto& layout_b : every_layout({4, 5})) {
      const auto x = distribute(a, layout_a), y = distribute(b, layout_b);
      CHECK(same(x + y, a + b));
      CHECK(same(x < y, a < b));
      CHECK(same(ht::where(x < y, x, y), at::minimum(a, b)));
    }
}

TEST_CASE("operands broadcast from every layout", "[ops][elementwise]") {
  const auto a = numbers({4, 5}), row = numbers({5}), column = numbers({4, 1}), one = numbers({1, 1}),
             cube = numbers({3, 1, 5});
  for (const auto& layout : every_layout({4, 5})) {
    const auto x = distribute(a, layout);
    for (const auto& l : every_layout({5})) CHECK(same(x * distribute(row, l), a * row));
    for (const auto& l : every_layout({4, 1})) CHECK(same(distribute(column, l) - x, column - a));
    for (const auto& l : every_layout({1, 1})) CHECK(same(x / distribute(one, l), a / one));
    for (const auto& l : every_layout({3, 1, 5})) CHECK(same(x + distribute(cube, l), a + cube));
  }
  for (const auto& l : every_layout({4, 1}))
    for (const auto& m : every_layout({5})) CHECK(same(distribute(column, l) * distribute(row, m), column * row));
}

TEST_CASE("empty arrays broadcast", "[ops][elementwise]") {
  for (const auto& layout : every_layout({0, 3}))
    CHECK((distribute(at::zeros({0, 3}), layout) + 1).shape() == ht::Shape{0, 3});
}

TEST_CASE("numbers mix in without widening", "[ops][elementwise]") {
  const auto whole = ht::arange(4, {.dtype = ht::int8, .split = 0});
  const auto real = ht::ones({4}, {.dtype = ht::float32, .split = 0});

  CHECK((whole * 2 + 1).dtype() == ht::int8);
  CHECK((whole * 2.0).dtype() == ht::float32);
  CHECK((1.5 - real).dtype() == ht::float32);
  CHECK((whole / 2).dtype() == ht::float32);
  CHECK((real + std::complex<double>(0, 1)).dtype() == ht::complex64);
  CHECK((whole > 1).to_vector<bool>() == std::vector<bool>{false, false, true, true});
  CHECK((7 % (whole + 1)).to_vector<std::int8_t>() == std::vector<std::int8_t>{0, 1, 1, 3});
}

TEST_CASE("an array without axes promotes as an array", "[ops][elementwise]") {
  const auto single = ht::full({}, 1.0, {.dtype = ht::float64});
  CHECK((ht::ones({3}, {.split = 0}) + single).dtype() == ht::float64);
  CHECK((ht::ones({3}, {.dtype = ht::int8}) + ht::full({}, 1, {.dtype = ht::int64})).dtype() == ht::int64);
}

TEST_CASE("operators in place keep layout and memory", "[ops][elementwise]") {
  const auto a = numbers({4, 5}), b = numbers({4, 5}, 2), row = numbers({5});
  for (const auto& layout_a : every_layout({4, 5}))
    for (const auto& layout_b : every_layout({4, 5})) {
      const auto x = distribute(a, layout_a);
      const auto* memory = x.larray().const_data_ptr();
      x += distribute(b, layout_b);
      x *= distribute(row, ht::Layout({5}, std::nullopt, ht::world().size()));
      x -= 1;
      x /= 2;
      CHECK(same(x, ((a + b) * row - 1) / 2));
      CHECK(x.larray().const_data_ptr() == memory);
      CHECK(x.layout() == layout_a);
    }
}

TEST_CASE("bad operands are errors on all ranks that name values", "[ops][elementwise]") {
  const auto x = ht::ones({4, 5}, {.split = 0});
  CHECK_THROWS_WITH(x + ht::ones({4}), Catch::Contains("[add] got arrays of shapes (4, 5) and (4,)"));
  CHECK_THROWS_AS(x += ht::ones({3, 4, 5}), ht::ValueError);
  CHECK_THROWS_AS(x + ht::ones({4, 5}, {.comm = ht::self()}), ht::CommError);
  CHECK_THROWS_AS(ht::add(1, 2), ht::ValueError);
  CHECK_THROWS_WITH(~x, Catch::Contains("[bitwise_not] got operands of float32"));
  CHECK_THROWS_AS(ht::arange(3) += 1.5, ht::TypeError);
}

TEST_CASE("the cheaper operand moves, is counted, and may be forbidden to", "[ops][elementwise]") {
  const auto p = ht::world().size();
  const auto big = ht::ones({4 * p, 4 * p}, {.dtype = ht::float64, .split = 1});
  const auto small = ht::ones({4 * p, 4 * p}, {.dtype = ht::int8, .split = 0});
  const auto before = ht::comm_report();

  const auto sum = big + small;

  const auto moved = ht::comm_report().redistributed_bytes - before.redistributed_bytes;
  CHECK(sum.split() == 1);
  CHECK(moved == 16 * p * (p - 1));
  ht::set_redistribution(ht::Redistribution::forbid);
  if (p > 1) CHECK_THROWS_WITH(big + small, Catch::Contains("forbid"));
  CHECK_NOTHROW(big + 1 + big);
  ht::set_redistribution(ht::Redistribution::allow);
}

TEST_CASE("equal layouts communicate nothing", "[ops][elementwise]") {
  const auto x = ht::ones({100}, {.split = 0}), r = ht::ones({100});
  const auto before = ht::comm_report().calls;
  CHECK((ht::sqrt(x) * x + r > 1).shape() == ht::Shape{100});
  CHECK(ht::comm_report().calls == before);
}

TEST_CASE("clip limits to numbers and arrays", "[ops][elementwise]") {
  const auto global = numbers({4, 5});
  for (const auto& layout : every_layout({4, 5})) {
    CHECK(same(ht::clip(distribute(global, layout), 0, 2.5), global.clamp(0, 2.5)));
  }
}
