#include "../../support.hpp"

#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/indexing/nonzero.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/sorting/search.hpp>

TEST_CASE("comparisons and choices of long blocks are LibTorch's", "[ops][elementwise][host]") {
  const auto type = GENERATE(at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kFloat,
                             at::kDouble, at::kComplexFloat, at::kComplexDouble);
  const ht::Shape shape{700, 4};
  const bool real = !at::isComplexType(type), floats = !at::isIntegralType(type, true);
  const auto noise = (at::arange(2800, at::kDouble) * 0.618).frac().reshape({700, 4});
  auto a = (noise * 5).floor().to(type), b = (noise.flip(0) * 5).floor().to(type);
  if (floats) {
    a.slice(0, 0, 700, 7).fill_(NAN);
    b.slice(0, 3, 700, 11).fill_(-INFINITY);
    a.slice(0, 5, 700, 13).fill_(INFINITY);
    b.slice(0, 1, 700, 5).fill_(-0.0);
  }
  const auto mask = noise > 0.3;
  for (const auto& layout : every_layout(shape)) {
    const auto x = distribute(a, layout), y = distribute(b, layout), m = distribute(mask, layout);
    CHECK(same(ht::eq(x, y), at::eq(a, b)));
    CHECK(same(ht::not_equal(x, y), at::ne(a, b)));
    CHECK(same(ht::isnan(x), at::isnan(a)));
    CHECK(same(ht::isinf(y), at::isinf(b)));
    CHECK(same(ht::isfinite(x), at::isfinite(a)));
    CHECK(same(ht::where(m, x, y), at::where(mask, a, b)));
    CHECK(same(ht::where(m, x, 1), at::where(mask, a, 1)));
    CHECK(same(ht::where(m, x, y(0)), at::where(mask, a, b[0])));
    CHECK(same(ht::where(m(0), x, y), at::where(mask[0], a, b)));
    CHECK(same(ht::transpose(ht::where(ht::transpose(m), ht::transpose(x), ht::transpose(y))), at::where(mask, a, b)));
    CHECK(same(ht::any(m), mask.any()));
    CHECK(same(ht::any(x, 0), at::any(a, 0).to(at::kBool)));
    CHECK(same(ht::all(x, 1), at::all(a, 1).to(at::kBool)));
    CHECK(same(ht::sum(m, 0), mask.sum(0)));
    CHECK(same(ht::sum(m), mask.sum()));
    CHECK(same(ht::sum(m, {.keepdims = true}), mask.sum().reshape({1, 1})));
    CHECK(same(ht::count_nonzero(x), at::count_nonzero(a)));
    CHECK(equals(std::get<0>(gathered(ht::argwhere(m) * ht::array({4, 1})).sum(1).sort()),
                 at::nonzero(mask.flatten()).select(1, 0)));
    CHECK(same(ht::isclose(x, y, {.rtol = 0.3, .atol = 0.5, .equal_nan = true}),
               at::isclose(a.to(floats ? type : at::kDouble), b.to(floats ? type : at::kDouble), 0.3, 0.5, true)));
    if (!real) continue;
    CHECK(same(x > 0, at::gt(a, 0)));
    CHECK(same(ht::eq(x, 300), at::zeros_like(mask)));
    CHECK(same(x < y, at::lt(a, b)));
    CHECK(same(x <= y, at::le(a, b)));
    CHECK(same(x > y, at::gt(a, b)));
    CHECK(same(x >= y(0), at::ge(a, b[0])));
    CHECK(same(x > 1, at::gt(a, 1)));
    CHECK(same(ht::less(1, x), at::gt(a, 1)));
  }
}

TEST_CASE("and, or with a condition of C++'s are C++'s own", "[ops][elementwise]") {
  const auto empty = ht::zeros({0}), x = ht::array({1, 0});
  CHECK_FALSE((empty.size() > 0 && ht::max(empty) > 200));
  CHECK((empty.size() == 0 || ht::max(empty) > 200));
  CHECK((x && ht::array({1, 1})).astype(ht::int64).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 0});
  CHECK((x || ht::array({0, 1})).astype(ht::int64).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 1});
}
