// Tests writes to selections while others hold the elements.
#include "../support.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/selection/selection.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/shape/reshape.hpp>

namespace {

at::Tensor given_numbers() { return at::arange(20, at::kDouble).reshape({5, 4}); }

}  // namespace

TEST_CASE("named operands stay as they are when selections beside them are written", "[ops][value]") {
  const auto global = given_numbers();
  for (const auto& layout : every_layout({5, 4})) {
    auto x = distribute(global, layout);
    const auto all = x;
    const auto row = x(0), rows = x(ht::slice(1, 4));
    x(0) *= row;
    x(ht::slice(0, 3)) += rows;
    CHECK(same(row, global[0]));
    CHECK(same(rows, global.slice(0, 1, 4)));
    auto expected = global.clone();
    expected[0].mul_(global[0]);
    expected.slice(0, 0, 3).add_(global.slice(0, 1, 4));
    CHECK(same(x, expected));
    x() -= all;
    CHECK(same(all, global));
    CHECK(same(x, expected - global));
  }
}

TEST_CASE("swap exchanges the elements of two selections", "[ops][value]") {
  const auto global = given_numbers();
  for (const auto& layout : every_layout({5, 4})) {
    auto x = distribute(global, layout), y = distribute(global + 100, layout);
    const auto before = x;
    swap(x(0), x(3));
    swap(x(ht::ellipsis, 1), y(ht::ellipsis, 2));
    auto expected = global.index_select(0, at::tensor({3, 1, 2, 0, 4})), other = global + 100;
    const auto column = expected.select(1, 1).clone();
    expected.select(1, 1).copy_(other.select(1, 2));
    other.select(1, 2).copy_(column);
    CHECK(same(x, expected));
    CHECK(same(y, other));
    CHECK(same(before, global));
    CHECK_THROWS_AS(swap(x(0), y(ht::ellipsis, 0)), ht::ValueError);
  }
}

TEST_CASE("selections of adopted memory are exchanged, and written after another was", "[ops][value][host]") {
  const auto global = given_numbers();
  for (const auto& layout : every_layout({5, 4})) {
    const auto memory = distribute(global, layout).larray().clone();
    const auto held = [&] { return ht::from_local(memory, {.split = layout.split()}); };
    auto x = held();
    const auto before = x;
    swap(x(0), x(3));
    auto expected = global.index_select(0, at::tensor({3, 1, 2, 0, 4}));
    CHECK(same(x, expected));
    swap(x(ht::slice(0, 2), 0), x(ht::slice(3, 5), 2));
    const auto first = expected.slice(0, 0, 2).select(1, 0).clone();
    expected.slice(0, 0, 2).select(1, 0).copy_(expected.slice(0, 3, 5).select(1, 2));
    expected.slice(0, 3, 5).select(1, 2).copy_(first);
    CHECK(same(x, expected));
    CHECK(same(before, global));
    CHECK(x.is_adopted());

    auto&& later = x(4);
    x(1) = 5;
    std::move(later) = 7;
    expected[1].fill_(5);
    expected[4].fill_(7);
    CHECK(same(x, expected));
    auto named = x(0);
    x(1) = 6;
    named += 1;
    CHECK_THROWS_AS(std::move(named) = 7, ht::ValueError);  // it has become an array of its own
    expected[1].fill_(6);
    CHECK(same(x, expected));
  }
}

TEST_CASE("copies that outlive the adopting array do not write to the host's memory", "[ops][value]") {
  std::vector<double> memory{1, 2, 3, 4};
  const auto before = memory;
  const auto held = [&] { return ht::from_local(memory, {.split = 0}); };
  ht::DNDarray copy, part, shaped, cut;
  {
    auto x = held();
    copy = x;
    part = x(ht::slice(1, std::nullopt));
    shaped = ht::reshape(x, {-1, 2});
    cut = ht::resplit(x, 0);
    auto y = x;
    y() -= x;  // and x does not change
    CHECK_THROWS_AS(x = ht::DNDarray(), ht::ValueError);
  }
  copy += 1;
  part(0) = 9;
  shaped *= 2;
  cut.local<double>()[0] = 7;
  auto direct = held()(ht::slice(0, 2));
  direct += 1;
  CHECK(memory == before);
}

TEST_CASE("selections of repeated positions write to the selected elements", "[ops][value]") {
  for (const auto& layout : every_layout({4})) {
    auto x = distribute(at::arange(4, at::kDouble), layout);
    x(ht::array({0, 0, 1}))(0) = 50;
    CHECK(same(x, at::tensor({50., 1., 2., 3.}, at::kDouble)));
    x(ht::array({2, 0, 2}))(ht::slice(0, 1)) += 100;
    CHECK(same(x, at::tensor({50., 1., 102., 3.}, at::kDouble)));
    x(ht::array({1, 1}))(ht::array({1, 0}))(0) = -1;
    CHECK(same(x, at::tensor({50., -1., 102., 3.}, at::kDouble)));
  }
  for (const auto& layout : every_layout({5, 4})) {
    auto x = distribute(given_numbers(), layout);
    auto expected = given_numbers().clone();
    ht::negative_(x(ht::array({3, 3, 1}))(0, ht::slice(1, 3)));
    expected[3].slice(0, 1, 3).neg_();
    x(ht::slice(1, 5))(ht::array({0, 0}))(1) = 4;
    expected[1] = 4;
    CHECK(same(x, expected));
  }
}

TEST_CASE("a selection that became a separate array does not write to its origin", "[ops][value]") {
  for (const auto& layout : every_layout({5, 4})) {
    auto x = distribute(given_numbers(), layout);
    const auto changed = [&] {
      auto row = x(0);
      row += 100;
      return row;
    };
    CHECK_THROWS_AS(changed() += 1, ht::ValueError);
    auto row = x(0);
    row = x(1);
    CHECK_THROWS_AS(std::move(row) = 9, ht::ValueError);
    CHECK(same(x, given_numbers()));
    ht::DNDarray none;
    CHECK_THROWS_AS(none(0) = 1, ht::ValueError);
    CHECK_THROWS_AS(none(0) + 1, ht::ValueError);
  }
}
