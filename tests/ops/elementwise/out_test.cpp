#include "../../support.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>

TEST_CASE("results go to out, and only where the mask is true", "[ops][elementwise]") {
  const auto global = at::arange(6, at::kDouble).reshape({2, 3}), mask = global > 2;
  for (const auto& layout : every_layout({2, 3}))
    for (const auto& other : every_layout({2, 3})) {
      const auto x = distribute(global, layout);
      const auto wanted = distribute(mask, other);
      auto out = distribute(at::full({2, 3}, -1, at::kDouble), other);
      const auto before = out;
      CHECK(same(ht::add(x, 10, {.out = out}), global + 10));
      CHECK(same(out, global + 10));
      CHECK(same(ht::negative(x, {.out = out, .where = wanted}), at::where(mask, -global, global + 10)));
      CHECK(same(out, at::where(mask, -global, global + 10)));
      CHECK(same(ht::square(x, {.where = wanted}), at::where(mask, global.square(), 0)));
      CHECK(same(before, at::full({2, 3}, -1, at::kDouble)));
      CHECK(same(ht::multiply(x(0), 2, {.out = out}), (global[0] * 2).expand({2, 3})));
      CHECK(same(ht::add(out, out, {.out = out}), (global[0] * 4).expand({2, 3})));
    }
  auto whole = ht::zeros({3}, {.dtype = ht::int32}), narrow = ht::zeros({2}, {.split = 0});
  CHECK_THROWS_WITH(ht::add(ht::ones({3}), 1, {.out = whole}), Catch::Contains("[add] got"));
  CHECK_THROWS_WITH(ht::add(ht::ones({3}), 1, {.out = narrow}),
                    Catch::Contains("[add] got a result of shape (3,) for out of shape (2,)"));
  CHECK_THROWS_WITH(ht::add(narrow, 1, {.where = narrow}),
                    Catch::Contains("[add] got where of float32; expected bool"));
  CHECK_THROWS_AS(ht::sqrt(narrow, {.out = narrow, .where = narrow}), ht::TypeError);
  CHECK_THROWS_WITH(ht::add(ht::ones({2, 2}), 1, {.out = narrow}),
                    Catch::Contains("[add] got a result of shape (2, 2) for out of shape (2,)"));
}
