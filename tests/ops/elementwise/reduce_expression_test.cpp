#include "../../support.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/ops/elementwise/reduce_expression.hpp>
#include <xtensor/xview.hpp>

TEST_CASE("xtensor expressions are reduced without an array", "[ops][xtensor][host]") {
  const auto global = at::arange(15, at::kDouble).reshape({5, 3}) - 6;
  const auto large = at::arange(10'007, at::kInt).remainder(97);
  for (const auto& layout : every_layout({5, 3})) {
    const auto x = distribute(global, layout);
    const auto a = ht::as_xtensor<double>(x);
    CHECK(ht::reduce_expression<ht::ReduceOp::sum>(a * a + 1.0, x) == (global * global + 1).sum().item<double>());
    CHECK(ht::reduce_expression<ht::ReduceOp::max>(-a, x) == 6);
    CHECK(ht::reduce_expression<ht::ReduceOp::sum>(a > 3.0, x) == 5);
    // These are not stored alike: one number for each row, and columns from right to left.
    const auto first = xt::view(a, xt::all(), xt::range(0, 1));
    CHECK(ht::reduce_expression<ht::ReduceOp::sum>(a * 0.0 + first, x) ==
          gathered(ht::from_expression(a * 0.0 + first, x)).sum().item<double>());
    const auto backward = xt::view(a, xt::all(), xt::range(xt::placeholders::_, xt::placeholders::_, -1));
    CHECK(ht::reduce_expression<ht::ReduceOp::min>(backward * 2.0, x) == -12);
  }
  for (const auto& layout : every_layout({10'007})) {
    const auto x = distribute(large, layout);
    CHECK(ht::reduce_expression<ht::ReduceOp::sum>(ht::as_xtensor<std::int32_t>(x) * 3, x) ==
          large.sum().item<std::int64_t>() * 3);
  }
}

TEST_CASE("xtensor expressions of another shape are refused on all ranks", "[ops][xtensor]") {
  const auto x = ht::zeros({8}, {.dtype = ht::float64, .split = 0});
  const bool last = x.comm().rank() == x.comm().size() - 1;
  const xt::xtensor<double, 1> wrong = xt::zeros<double>({x.lshape()[0] + (last ? 1 : 0)});
  CHECK_THROWS_AS(ht::reduce_expression<ht::ReduceOp::sum>(wrong + 1.0, x), ht::ValueError);
  const auto nothing = ht::zeros({0}, {.split = 0});
  CHECK_THROWS_AS(ht::reduce_expression<ht::ReduceOp::min>(ht::as_xtensor<float>(nothing) + 1.0f, nothing),
                  ht::ValueError);
}
