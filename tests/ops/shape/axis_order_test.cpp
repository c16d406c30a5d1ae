#include "../../support.hpp"

#include <heatpp/ops/calculus/calculus.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/joining/repeat.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/padding/pad.hpp>
#include <heatpp/ops/reductions/arg.hpp>
#include <heatpp/ops/reductions/moments.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/selection/selection.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/shape/reshape.hpp>

namespace {

const std::vector<std::vector<int>> orders{{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

/// Returns different numbers, none near 0, with the largest in the middle.
at::Tensor numbers(at::ScalarType type) {
  return at::remainder(at::arange(60).reshape({5, 4, 3}) * 37, 61).add(1).to(type) / (at::isFloatingType(type) ? 8 : 1);
}

/// Calls f(array, LibTorch's array) for arrays in all memory orders except that of their axes, and with gaps.
template <class F>
void for_each_order(const at::Tensor& memory, F f) {
  for (const auto& layout : every_layout({5, 4, 3})) {
    const auto x = distribute(memory, layout);
    for (const auto& order : orders) {
      const std::vector<std::int64_t> axes(order.begin(), order.end());
      f(ht::transpose(x, order), memory.permute(axes).contiguous());
    }
    const auto every_second = ht::slice(std::nullopt, std::nullopt, 2);
    f(ht::transpose(x(every_second, ht::all_of, every_second)),
      memory.slice(0, 0, 5, 2).slice(2, 0, 3, 2).permute({2, 1, 0}).contiguous());
  }
}

}  // namespace

TEST_CASE("reductions of blocks with axes in any order equal LibTorch's", "[ops][reduce]") {
  for_each_order(numbers(at::kDouble), [](const ht::DNDarray& x, const at::Tensor& global) {
    const auto truth = x > 4.0;
    const auto true_where = global > 4.0;
    CHECK(close(ht::sum(x), global.sum()));
    CHECK(same(ht::max(x), global.amax()));
    CHECK(close(ht::mean(x), global.mean()));
    CHECK(close(ht::std(x), global.std(std::nullopt, 0)));
    CHECK(same(ht::argmax(x), global.argmax()));
    for (int axis = 0; axis < 3; ++axis)
      for (const bool keepdims : {false, true}) {
        const std::vector<std::int64_t> axes{axis};
        CHECK(close(ht::sum(x, {.axis = axis, .keepdims = keepdims}), global.sum(axes, keepdims)));
        CHECK(close(ht::prod(x, {.axis = axis, .keepdims = keepdims}), global.prod(axis, keepdims)));
        CHECK(same(ht::max(x, {.axis = axis, .keepdims = keepdims}), global.amax(axes, keepdims)));
        CHECK(same(ht::min(x, {.axis = axis, .keepdims = keepdims}), global.amin(axes, keepdims)));
        CHECK(same(ht::any(truth, {.axis = axis, .keepdims = keepdims}), true_where.any(axis, keepdims)));
        CHECK(same(ht::all(truth, {.axis = axis, .keepdims = keepdims}), true_where.all(axis, keepdims)));
        CHECK(close(ht::mean(x, {.axis = axis, .keepdims = keepdims}), global.mean(axes, keepdims)));
        CHECK(close(ht::var(x, {.axis = axis, .keepdims = keepdims}), global.var(axes, 0, keepdims)));
        CHECK(same(ht::argmax(x, {.axis = axis, .keepdims = keepdims}), global.argmax(axis, keepdims)));
        CHECK(same(ht::argmin(x, {.axis = axis, .keepdims = keepdims}), global.argmin(axis, keepdims)));
      }
    for (const auto& two : {std::vector{0, 1}, std::vector{0, 2}, std::vector{1, 2}}) {
      const std::vector<std::int64_t> axes(two.begin(), two.end());
      CHECK(close(ht::sum(x, {.axis = two}), global.sum(axes)));
      CHECK(close(ht::prod(x, {.axis = two}), global.prod(two[1]).prod(two[0])));
      CHECK(same(ht::max(x, {.axis = two}), global.amax(axes)));
      CHECK(close(ht::mean(x, {.axis = two}), global.mean(axes)));
      for (const auto& where : {truth, ht::copy(truth), ht::resplit(truth, std::nullopt)})
        CHECK(close(ht::mean(x, {.axis = two, .where = where}),
                    at::where(true_where, global, 0.0).sum(axes) / true_where.sum(axes)));
    }
  });
}

TEST_CASE("extrema of complex blocks with axes in any order are those of their parts", "[ops][reduce]") {
  const auto memory = at::complex(numbers(at::kDouble), -numbers(at::kDouble));
  for_each_order(memory, [](const ht::DNDarray& x, const at::Tensor& global) {
    const auto largest = at::real(global);  // no two elements are equal
    for (const auto& two : {std::vector{0, 1}, std::vector{0, 2}, std::vector{1, 2}})
      CHECK(same(ht::real(ht::max(x, {.axis = two})), largest.amax({two[0], two[1]})));
    CHECK(same(ht::argmax(x, 1), largest.argmax(1)));
  });
}

TEST_CASE("joining, moving and padding blocks with axes in any order equal LibTorch's", "[ops][join]") {
  for_each_order(numbers(at::kLong), [](const ht::DNDarray& x, const at::Tensor& global) {
    for (int axis = 0; axis < 3; ++axis) {
      CHECK(same(ht::concatenate({x, x + 1, x}, axis), at::cat({global, global + 1, global}, axis)));
      CHECK(same(ht::stack({x, x + 1}, axis), at::stack({global, global + 1}, axis)));
      CHECK(same(ht::roll(x, 2, axis), at::roll(global, 2, axis)));
      CHECK(same(ht::diff(x, {.axis = axis}), at::diff(global, 1, axis)));
      std::vector<std::int64_t> amounts(6, 0);
      ht::PadWidths widths(3, {0, 0});
      widths[static_cast<std::size_t>(axis)] = {1, 2};
      amounts[static_cast<std::size_t>(2 * (2 - axis))] = 1;
      amounts[static_cast<std::size_t>(2 * (2 - axis) + 1)] = 2;
      CHECK(same(ht::pad(x, widths), at::constant_pad_nd(global, amounts)));
    }
    CHECK(same(ht::tile(x, {2, 1, 3}), global.repeat({2, 1, 3})));
  });
}

TEST_CASE("a mesh of positions selects as one selection after the other", "[ops][index]") {
  const auto global = at::arange(60).reshape({5, 4, 3});
  const auto first = at::tensor({4, 0, 4, -2}, at::kLong), second = at::tensor({-1, 1, 0}, at::kLong);
  const auto rows = global.index({first}), picked = rows.index({at::indexing::Slice(), second});
  for (const auto& layout : every_layout({5, 4, 3}))
    for (const auto& of_first : every_layout({4}))
      for (const auto& of_second : every_layout({3})) {
        const auto x = distribute(global, layout);
        const auto a = distribute(first, of_first), b = distribute(second, of_second);

        const auto grid = ht::ix_({a, b});

        CHECK(same(x(grid[0], grid[1]), picked));
        CHECK(same(x(grid[0], b), picked));
        CHECK(same(ht::transpose(x)(ht::all_of, ht::reshape(b, {3, 1}), a), picked.permute({2, 1, 0})));
        CHECK_THROWS_AS(x(grid[0] + 1, b), ht::IndexError);
        CHECK(x(grid[0], ht::zeros({0}, {.dtype = ht::int64})).shape() == ht::Shape{4, 0, 3});
      }
}
