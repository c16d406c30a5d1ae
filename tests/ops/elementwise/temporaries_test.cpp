#include "../../support.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/random/random.hpp>

#include <vector>

namespace {

const void* memory_of(const ht::DNDarray& x) { return x.larray().const_data_ptr(); }

at::Tensor numbers(at::ScalarType type, double first) { return (at::arange(20, type) * 0.25 + first).reshape({5, 4}); }

}  // namespace

TEST_CASE("chains of operators leave their operands as they are", "[ops][elementwise]") {
  for (const auto type : {at::kFloat, at::kDouble}) {
    const auto a = numbers(type, -2), b = numbers(type, 1), c = numbers(type, 3);
    const auto expected = at::sqrt(a * a + b * b) * c - a / (b * b + 1) + (2 - (a - 1) * (c + b)) / (3 * c);
    for (const auto& one : every_layout({5, 4}))
      for (const auto& other : every_layout({5, 4})) {
        const auto x = distribute(a, one), y = distribute(b, other), z = distribute(c, one);
        const auto root = ht::sqrt(x * x + y * y);
        const auto result = root * z - x / (y * y + 1) + (2 - (x - 1) * (z + y)) / (3 * z);
        CHECK(close(result, expected, type == at::kFloat ? 1e-6 : 1e-14));
        CHECK((same(x, a) && same(y, b) && same(z, c) && close(root, at::sqrt(a * a + b * b), 1e-6)));
      }
  }
}

TEST_CASE("temporaries of another shape or dtype do not hold the result", "[ops][elementwise]") {
  const auto a = numbers(at::kFloat, -2), b = numbers(at::kDouble, 1);
  const auto whole = at::arange(4) + 1, truths = whole > 2, wide = whole.to(at::kDouble), a64 = a.to(at::kDouble);
  for (const auto& layout : every_layout({5, 4})) {
    const auto x = distribute(a, layout), y = distribute(b, layout);
    const auto n = distribute(whole, ht::Layout({4}, std::nullopt, layout.ranks()));
    const auto mask = distribute(truths, n.layout());
    CHECK(same((x + 1) + (y + 1), (a + 1) + (b + 1)));
    CHECK(same((y + 1) * (x + 1), (b + 1) * (a + 1)));
    CHECK(same((n + 1) / (n + 2), (wide + 1) / (wide + 2)));
    CHECK(same((n * 2) - (x * 2), wide * 2 - a64 * 2));
    CHECK(same((x * 2) - n, a64 * 2 - wide));
    CHECK(same((x * 2) - mask, a * 2 - truths.to(at::kFloat)));
    CHECK(same((x * 2) - true, a * 2 - 1));
    CHECK(same((x * 2) + std::complex<float>(0, 1), a * 2 + at::Scalar(c10::complex<double>(0, 1))));
    CHECK(same((n * 0.5) + (x * 0.5), wide * 0.5 + a64 * 0.5));
  }
}

TEST_CASE("a result is written into a temporary", "[ops][elementwise]") {
  const auto other = ht::ones({6, 3}, {.split = 0});
  const auto temporary = [] { return ht::full({6, 3}, 4, {.dtype = ht::float32, .split = 0}); };
  const auto taken = [&](auto f, float expected) {
    auto x = temporary();
    const auto* memory = memory_of(x);
    const ht::DNDarray result = f(std::move(x));
    return memory_of(result) == memory && same(result, at::full({6, 3}, expected));
  };
  CHECK(taken([&](ht::DNDarray&& x) { return std::move(x) + other; }, 5));
  CHECK(taken([&](ht::DNDarray&& x) { return other - std::move(x); }, -3));
  CHECK(taken([&](ht::DNDarray&& x) { return std::move(x) * 2; }, 8));
  CHECK(taken([&](ht::DNDarray&& x) { return 2 / std::move(x); }, 0.5));
  CHECK(taken([&](ht::DNDarray&& x) { return std::move(x) - temporary(); }, 0));
}

TEST_CASE("blocks that others see are not written to", "[ops][elementwise]") {
  std::vector<double> mine(6, 1);
  const auto own = ht::from_local(std::span<double>(mine), {.split = 0}) + 1;
  CHECK(mine == std::vector<double>(6, 1));
  CHECK(same(own, at::full({6 * own.comm().size()}, 2.0, at::kDouble)));

  for (const auto& layout : every_layout({5, 4})) {
    const auto global = numbers(at::kDouble, 1);
    const auto kept = distribute(global, layout);
    const auto handle = [&] { return kept; };
    CHECK(same(handle() + 1, global + 1));
    CHECK(same(ht::transpose(kept) * 2, global.t() * 2));
    CHECK(same(kept(ht::slice(1, 4)) - 1, global.narrow(0, 1, 3) - 1));
    CHECK(same(kept.astype(ht::float64) / 2, global / 2));
    CHECK(same(ht::broadcast_to(kept, {2, 5, 4}) + 1, (global + 1).expand({2, 5, 4})));
    CHECK(same(kept, global));
    auto x = ht::copy(kept);
    const auto row = x(2);
    CHECK(same(std::move(x) * 2, global * 2));
    CHECK(same(row, global[2]));
    auto y = ht::copy(kept);
    const at::Tensor block = y.larray(), before = block.clone();
    CHECK(same(std::move(y) + 1, global + 1));
    CHECK(equals(block, before));
  }
}

TEST_CASE("where takes conditions and values that have no axes", "[ops][elementwise][host]") {
  const auto truth = ht::full({}, true), two = ht::full({}, 2.0, {.dtype = ht::float64});
  CHECK(ht::where(truth, 1, two).item<double>() == 1);
  for (const auto& layout : every_layout({3}))
    CHECK(same(ht::where(truth, distribute(at::arange(3), layout), two), at::arange(3).to(at::kDouble)));
}
