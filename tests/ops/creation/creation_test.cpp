#include "../../support.hpp"
#include "../vectors.hpp"

#include <heatpp/ops/creation/creation.hpp>
#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/creation/packbits.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>

namespace {

/// Runs f for exact numbers of a dtype, cut along axis 0 and not cut.
template <class F>
void for_each_split(ht::Dtype dtype, F f) {
  for (const std::optional<int> split : {std::optional<int>(), std::optional(0)})
    f(ht::ArrayOptions{.dtype = dtype, .split = split});
}

}  // namespace

TEST_CASE("ranges of numbers end where NumPy's do", "[ops][creation]") {
  for_each_split(ht::int64, [](const auto& options) {
    CHECK(same(ht::geomspace(1, 1000, 4, options), longs({1, 10, 100, 1000})));
    CHECK(same(ht::logspace({.start = 0, .stop = 4, .num = 4, .endpoint = false, .base = 2}, options),
               longs({1, 2, 4, 8})));
    const std::int64_t large = 9007199254740993;
    CHECK(same(ht::arange(ht::ArangeRange{large, large + 4, 3}, options), longs({large, large + 3})));
    CHECK(same(ht::arange(ht::ArangeRange{5, 0, -2}, options), longs({5, 3, 1})));
    CHECK(ht::arange(ht::ArangeRange{5, 0, 2}, options).size() == 0);
  });
  for_each_split(ht::float64, [](const auto& options) {
    CHECK(close(ht::geomspace({.start = 1, .stop = 256, .num = 4, .endpoint = false}, options),
                at::tensor({1., 4., 16., 64.}, at::kDouble)));
  });
  CHECK(ht::linspace_step({.stop = 1, .num = 5}) == 0.25);
  CHECK(ht::linspace_step({.stop = 1, .num = 5, .endpoint = false}) == 0.2);
  CHECK(std::isnan(ht::linspace_step({.stop = 1, .num = 1})));
  CHECK_THROWS_AS(ht::linspace_step({.stop = 1, .num = -1}), ht::ValueError);
}

TEST_CASE("ranges between the elements of arrays", "[ops][creation]") {
  const auto a = at::arange(6, at::kDouble).reshape({2, 3});
  for (const auto& layout : every_layout({2, 3})) {
    const auto x = distribute(a, layout);
    CHECK(close(ht::linspace(x, 1.0, {.num = 3}), at::stack({a, (a + 1) / 2, at::ones({2, 3}, at::kDouble)})));
    CHECK(close(ht::linspace(0.0, x, {.num = 2, .endpoint = false, .axis = -1}),
                at::stack({at::zeros({2, 3}, at::kDouble), a / 2}, -1)));
    CHECK(same(ht::linspace(x, x * 4, {.num = 2, .dtype = ht::int64}), at::stack({a, a * 4}).to(at::kLong)));
  }
  CHECK_THROWS_AS(ht::linspace(0.0, ht::ones({2}), {.num = -1}), ht::ValueError);
}

TEST_CASE("arrays are made like others, and of arrays", "[ops][creation][host]") {
  const auto a = at::arange(6).reshape({2, 3});
  for (const auto& layout : every_layout({2, 3})) {
    const auto x = distribute(a, layout);
    CHECK(ht::zeros_like(x, {.dtype = ht::float64}).layout() == layout);
    CHECK(same(ht::ones_like(x, {.shape = ht::Shape{4}}), at::ones({4}, at::kLong)));
    CHECK(same(ht::full_like(x, ht::arange(3), {}), at::arange(3).expand({2, 3})));
    CHECK(same(ht::full({2, 2, 3}, x), a.expand({2, 2, 3})));
    CHECK(same(ht::asarray(x, ht::float32), a.to(at::kFloat)));
  }
  CHECK(ht::empty_like(ht::ones({4, 4}), {.split = 1}).split() == 1);
  CHECK(same(ht::asarray({1, 2}), longs({1, 2})));
}

TEST_CASE("diagonals of ones, and grids that stay thin", "[ops][creation]") {
  for (const std::optional<int> split : {std::optional<int>(), std::optional(0), std::optional(1)})
    for (const int k : {-2, 0, 1, 7})
      CHECK(same(ht::eye(3, {.columns = 5, .k = k, .array = {.split = split}}),
                 at::ones({3, 5}).tril(k) - at::ones({3, 5}).tril(k - 1)));
  for_each_split(ht::int64, [](const auto& options) {
    const auto grids = ht::meshgrid({ht::arange(3, options), ht::arange(4)}, {.sparse = true});
    CHECK(same(grids[0], at::arange(3).reshape({1, 3})));
    CHECK(same(grids[1], at::arange(4).reshape({4, 1})));
  });
  CHECK(ht::indices({}).shape() == ht::Shape{0});
}

TEST_CASE("bits are unpacked up to a count", "[ops][creation]") {
  const auto bytes = at::tensor({1, 255, 16}, at::kByte);
  const auto bits = at::tensor({0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0}, at::kByte);
  for (const auto& layout : every_layout({3})) {
    const auto x = distribute(bytes, layout);
    CHECK(same(ht::unpackbits(x, {.count = 13}), bits.slice(0, 0, 13)));
    CHECK(same(ht::unpackbits(x, {.axis = 0, .count = -3}), bits.slice(0, 0, 21)));
    CHECK(same(ht::unpackbits(x, {.count = 30}), at::constant_pad_nd(bits, {0, 6})));
    CHECK_THROWS_AS(ht::unpackbits(x, {.count = -25}), ht::ValueError);
    CHECK_THROWS_AS(ht::packbits(x.astype(ht::float32)), ht::TypeError);
  }
}

TEST_CASE("diagonals and triangles of arrays that exist have positions to index with", "[ops][creation]") {
  const auto global = at::arange(12).reshape({3, 4});
  const auto square = at::arange(16).reshape({4, 4});
  const auto cubes = at::arange(8).reshape({2, 2, 2});
  for (const auto& layout : every_layout({3, 4})) {
    const auto x = distribute(global, layout);
    for (const std::int64_t k : {-1, 0, 2}) {
      CHECK(same(x.index({ht::tril_indices_from(x, k)[0], ht::tril_indices_from(x, k)[1]}),
                 global.masked_select(at::tril(at::ones({3, 4}, at::kBool), k))));
      CHECK(same(x.index({ht::triu_indices_from(x, k)[0], ht::triu_indices_from(x, k)[1]}),
                 global.masked_select(at::triu(at::ones({3, 4}, at::kBool), k))));
    }
    CHECK(same(ht::diagflat(x), at::diagflat(global)));
    CHECK(same(ht::diagflat(x, -2), at::diagflat(global, -2)));
    CHECK_THROWS_AS(ht::diag_indices_from(x), ht::ValueError);
  }
  for (const auto& layout : every_layout({4, 4})) {
    const auto x = distribute(square, layout);
    const auto kept = ht::mask_indices(
        4, [](const auto& m, std::int64_t k) { return ht::triu(m, k); }, 1);
    CHECK(same(x.index({kept[0], kept[1]}), square.masked_select(at::triu(at::ones({4, 4}, at::kBool), 1))));
  }
  for (const auto& layout : every_layout({2, 2, 2})) {
    const auto x = distribute(cubes, layout);
    const auto diagonal = ht::diag_indices_from(x);
    CHECK(same(x.index({diagonal[0], diagonal[1], diagonal[2]}), longs({0, 7})));
  }
}
