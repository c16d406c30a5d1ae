#include "../../support.hpp"

#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

namespace {

std::vector<std::int64_t> reversed(int axes) {
  std::vector<std::int64_t> order;
  while (axes > 0) order.push_back(--axes);
  return order;
}

}  // namespace

TEST_CASE("sums of whole numbers of any size are exact", "[ops][reduce]") {
  for (const auto type : {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong})
    for (const auto& shape : {ht::Shape{200'000}, ht::Shape{700, 3}, ht::Shape{3, 500, 7}, ht::Shape{2, 9, 300}}) {
      const bool narrow = type != at::kLong && type != at::kInt;
      const auto largest = narrow ? 0 : 1'000'000'007;
      auto global = (at::arange(ht::size_of(shape)).reshape(shape) * 7919 - largest).to(type);
      // There are more extreme ones than sums of 32 bits can hold.
      if (type == at::kShort) global = at::where(global > -30'000, global.clamp_min(32'000), global);
      for (const auto& layout : every_layout(shape)) {
        const auto x = distribute(global, layout);
        CHECK(same(ht::sum(x), global.sum(at::kLong)));
        for (int axis = 0; axis < x.ndim(); ++axis) {
          CHECK(same(ht::sum(x, {.axis = axis, .keepdims = true}), global.sum({axis}, true, at::kLong)));
          CHECK(same(ht::sum(ht::transpose(x), x.ndim() - 1 - axis),
                     global.sum({axis}, false, at::kLong).permute(reversed(x.ndim() - 1))));
        }
      }
    }
}

TEST_CASE("sums of few and of many floating numbers", "[ops][reduce]") {
  for (const std::int64_t n : {1, 15, 16, 17, 255, 256, 257, 4096, 4097, 20'000}) {
    const auto numbers = (at::arange(n, at::kDouble) * 7919).remainder(97) - 40.3;
    const auto narrow = numbers.to(at::kFloat);
    for (const auto& layout : every_layout({n})) {
      CHECK(close(ht::sum(distribute(numbers, layout)), numbers.sum()));
      CHECK(
          std::abs(ht::sum(distribute(narrow, layout)).item<double>() - narrow.to(at::kDouble).sum().item<double>()) <=
          1e-6 * narrow.to(at::kDouble).abs().sum().item<double>());
      const auto z = distribute(at::complex(numbers, numbers), layout);
      CHECK(close(ht::sum(ht::imag(ht::conj(z))), -numbers.sum()));
    }
  }
}

TEST_CASE("sums and extremes along rows and columns of any length", "[ops][reduce]") {
  for (const auto type : {at::kFloat, at::kDouble})
    for (const auto& shape : {ht::Shape{90, 3}, ht::Shape{7, 40, 8}, ht::Shape{3, 70'001}, ht::Shape{5000, 33},
                              ht::Shape{2, 300, 1100}, ht::Shape{6, 31, 1}, ht::Shape{11, 63}, ht::Shape{13, 65, 32}}) {
      const auto global =
          ((at::arange(ht::size_of(shape), at::kDouble) * 7919).remainder(97) - 40).reshape(shape).to(type);
      for (const auto& layout : every_layout(shape)) {
        const auto x = distribute(global, layout);
        CHECK(same(ht::sum(x), global.sum()));
        CHECK(same(ht::max(x), global.max()));
        for (int axis = 0; axis < x.ndim(); ++axis) {
          CHECK(same(ht::sum(x, {.axis = axis, .keepdims = true}), global.sum({axis}, true)));
          CHECK(same(ht::min(x, axis), global.amin({axis})));
          CHECK(same(ht::max(ht::transpose(x), x.ndim() - 1 - axis),
                     global.amax({axis}).permute(reversed(x.ndim() - 1))));
        }
      }
    }
}

TEST_CASE("extremes are NaN wherever one element is", "[ops][reduce]") {
  for (const std::int64_t n : {5, 8, 40, 64, 65, 200, 70'000})
    for (const std::int64_t place : {std::int64_t{0}, n / 2, n - 1}) {
      auto global = at::arange(2 * n, at::kFloat).reshape({2, n});
      global.index_put_({1, place}, NAN);
      const auto x = on_all(global);
      CHECK(ht::max(x, 1)(0).item<double>() == static_cast<double>(n - 1));
      CHECK(ht::min(x, 1)(0).item<double>() == 0);
      CHECK(std::isnan(ht::max(x, 1)(1).item<double>()));
      CHECK(std::isnan(ht::min(x, 0)(place).item<double>()));
      CHECK(std::isnan(ht::min(x).item<double>()));
    }
}
