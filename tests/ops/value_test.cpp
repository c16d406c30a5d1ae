#include "../support.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/ops/calculus/scan.hpp>
#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/indexing/part.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/selection/selection.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/shape/reshape.hpp>
#include <heatpp/random/random.hpp>

#include <map>

using at::indexing::Ellipsis;
using at::indexing::None;
using at::indexing::Slice;

namespace {

at::Tensor numbers() { return at::arange(20, at::kDouble).reshape({5, 4}); }

template <class T>
concept WritableAsTemporary = requires(T x) {
  std::move(x) += 1;
};
template <class T>
concept ReadableAsTemporary = requires(T x) {
  std::move(x).template local<double>();
};
template <class T>
concept AssignableFromNumber = requires(T& x) {
  x = 5;
};

/// Returns this rank's block under `layout`, in memory of a host.
at::Tensor block_of(const at::Tensor& global, const ht::Layout& layout) {
  return distribute(global, layout).larray().clone(at::MemoryFormat::Contiguous);
}

}  // namespace

TEST_CASE("arrays that share elements keep them if another array is written to", "[ops][value]") {
  const auto global = numbers();
  for (const auto& layout : every_layout({5, 4})) {
    auto x = distribute(global, layout);
    const auto same_name = x;
    const auto row = std::as_const(x)(1), column = std::as_const(x)(ht::all_of, 2), flat = ht::flatten(x),
               turned = ht::transpose(x), matrix = ht::reshape(x, {4, 5}), whole = ht::resplit(x, std::nullopt),
               stretched = ht::broadcast_to(x, {2, 5, 4}), line = ht::diagonal(x), as_it_is = x.astype(ht::float64),
               part = std::as_const(x)(ht::slice(1, 3)), real = ht::real(x), plus = +x;
    x += 100;
    CHECK(same(x, global + 100));
    CHECK(same(same_name, global));
    CHECK(same(row, global[1]));
    CHECK(same(column, global.select(1, 2)));
    CHECK(same(flat, global.flatten()));
    CHECK(same(turned, global.t()));
    CHECK(same(matrix, global.reshape({4, 5})));
    CHECK(same(whole, global));
    CHECK(same(stretched, global.expand({2, 5, 4})));
    CHECK(same(line, global.diagonal()));
    CHECK(same(as_it_is, global));
    CHECK(same(part, global.slice(0, 1, 3)));
    CHECK(same(real, global));
    CHECK(same(plus, global));
  }
}

TEST_CASE("a write to a result does not change its argument", "[ops][value]") {
  const auto global = numbers();
  for (const auto& layout : every_layout({5, 4})) {
    auto x = distribute(global, layout);
    auto copy = x;
    auto row = x(0);
    auto rows = x(ht::slice(0, 2));
    auto matrix = ht::reshape(x, {4, 5});
    auto turned = ht::transpose(x);
    auto wide = ht::broadcast_to(row, {3, 4});
    auto chosen = x(x > 3);
    copy += 1;
    row += 2;
    rows(0, 0) = -1;
    matrix.index_put({0}, 7);
    ht::fill_diagonal(turned, 9);
    wide += 1;
    chosen += 1;
    CHECK(same(x, global));
    CHECK(same(copy, global + 1));
    CHECK(same(row, global[0] + 2));
    CHECK(same(wide, (global[0] + 1).expand({3, 4})));
    auto expected = global.reshape({4, 5}).clone();
    expected[0] = 7;
    CHECK(same(matrix, expected));
    CHECK(same(chosen, global.masked_select(global > 3) + 1));
    auto first = global.slice(0, 0, 2).clone();
    first[0][0] = -1;
    CHECK(same(rows, first));
  }
}

TEST_CASE("assigning to a selection writes to the array", "[ops][value]") {
  const auto global = numbers();
  for (const auto& layout : every_layout({5, 4})) {
    auto x = distribute(global, layout);
    const auto y = distribute(global * 10, layout);
    auto expected = global.clone();
    x(0) = y(1);
    expected[0] = global[1] * 10;
    CHECK(same(x, expected));
    x(1) = x(2);
    expected[1] = expected[2];
    CHECK(same(x, expected));
    x(x > 100) = 5;
    expected.masked_fill_(expected > 100, 5);
    CHECK(same(x, expected));
    x(ht::slice(1, 4)) += y(ht::slice(0, 3));
    expected.slice(0, 1, 4).add_(global.slice(0, 0, 3) * 10);
    CHECK(same(x, expected));
    x(ht::slice(std::nullopt, std::nullopt, -1), 0) = x(ht::all_of, 1);
    expected.select(1, 0).copy_(expected.select(1, 1).flip(0).clone());
    CHECK(same(x, expected));
    x(ht::array({3, 0}), ht::slice(1, 3)) *= 2;
    for (const auto r : {3, 0}) expected[r].slice(0, 1, 3).mul_(2);
    CHECK(same(x, expected));
    x(2, 3) = 1.5;
    expected[2][3] = 1.5;
    CHECK(same(x, expected));
    x(ht::ellipsis) = 0;
    CHECK(same(x, at::zeros({5, 4}, at::kDouble)));
  }
}

TEST_CASE("numbers in braces are assigned as arrays of them", "[ops][value]") {
  for (const auto& layout : every_layout({5, 4})) {
    auto x = distribute(numbers(), layout);
    x(0) = {1, 2.5, 3, 4};
    x(ht::slice(1, 3)) = {{5, 6, 7, 8}, {-1, -2, -3, -4}};
    x(x > 18) = {100};
    x.index_put({3}, {0, 1, 0, 1});
    x.index_put({4, ht::slice(0, 2)}, {9, 9});
    const auto expected = at::tensor(
        {1.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, -1.0, -2.0, -3.0, -4.0, 0.0, 1.0, 0.0, 1.0, 9.0, 9.0, 18.0, 100.0});
    CHECK(same(x, expected.to(at::kDouble).view({5, 4})));
    auto whole = x.astype(ht::int32);
    whole(0) = {7, 8, 9, 10};
    CHECK(same(whole(0), at::tensor({7, 8, 9, 10}, at::kInt)));
    CHECK_THROWS_AS(x(0) = (std::initializer_list<ht::Literal>{1, 2}), ht::ValueError);
  }
}

TEST_CASE("functions in place take selections", "[ops][value]") {
  const auto global = numbers();
  for (const auto& layout : every_layout({5, 4})) {
    auto x = distribute(global, layout);
    auto expected = global.clone();
    CHECK(same(ht::negative_(x(1)), -global[1]));
    expected[1].neg_();
    CHECK(same(ht::subtract_(x(x > 17), 1), at::tensor({17.0, 18.0}, at::kDouble)));
    expected.masked_fill_(expected == 18, 17);
    expected[4][3] = 18;
    ht::fill_diagonal(x(ht::slice(2, std::nullopt)), 0.5);
    for (const auto i : {0, 1, 2}) expected[2 + i][i] = 0.5;
    ht::cumsum_(x(0), 0);
    expected[0] = expected[0].cumsum(0);
    ht::copyto(x(3), 8);
    expected[3] = 8;
    ht::put(x(ht::array({2})), ht::array({0}), -3);
    expected[2][0] = -3;
    CHECK(same(x, expected));
    ht::random::shuffle(x(ht::slice(0, 2)));
    CHECK(same(ht::sum(x(ht::slice(0, 2)), 0), expected.slice(0, 0, 2).sum(0)));
    CHECK(same(x(ht::slice(2, std::nullopt)), expected.slice(0, 2)));
  }
}

TEST_CASE("a selection that a function returns writes to its array, and so does a selection of a selection",
          "[ops][value]") {
  const auto global = numbers();
  for (const auto& layout : every_layout({5, 4})) {
    auto x = distribute(global, layout);
    const auto above = [&](double t) { return x(x > t); };
    const auto row = [&](int i) { return x(i); };
    auto expected = global.clone();
    above(15) += 100;
    expected.masked_fill_(expected > 15, 0).add_((global > 15) * (global + 100));
    row(0) = 3;
    expected[0] = 3;
    row(2)(1) = 4;
    expected[2][1] = 4;
    x(ht::array({1, 3}))(0, ht::slice(1, 3)) += 1;
    expected[1].slice(0, 1, 3).add_(1);
    x(ht::slice(3, 5))(ht::all_of, ht::array({0}))(1) = -1;
    expected[4][0] = -1;
    CHECK(same(x, expected));
  }
}

TEST_CASE("a selection outlives its array as a value", "[ops][value]") {
  for (const auto& layout : every_layout({5, 4})) {
    const auto row = [&] {
      auto x = distribute(numbers(), layout);
      return x(1);
    };
    CHECK(same(row(), numbers()[1]));
    CHECK_THROWS_WITH(row() = 1, Catch::Contains("[selection] got a selection of an array that is gone"));
    CHECK_THROWS_WITH(row() += 1, Catch::Contains("[selection] got a selection of an array that is gone"));
    auto x = distribute(numbers(), layout);
    auto named = x(1);
    named(0) = 50;
    named += 1;
    CHECK(same(x, numbers()));
    CHECK(named.index({0}).item<double>() == 51);
    auto moved = std::move(x);
    CHECK_THROWS_AS(x.shape(), ht::ValueError);
    moved(1) = named;
    CHECK(moved.index({1, 0}).item<double>() == 51);
  }
}

TEST_CASE("memory of a host is written by the array that adopted it, and by no other", "[ops][value][host]") {
  const auto global = numbers();
  for (const auto& layout : every_layout({5, 4})) {
    if (layout.split() == 1) continue;  // blocks of rows are in C order
    const auto memory = block_of(global, layout);
    const auto held = [&] { return ht::from_local(memory, {.split = layout.split()}); };
    auto x = held();
    CHECK(x.is_adopted());
    CHECK(x.larray().data_ptr() == memory.data_ptr());
    auto copy = x;
    const auto row = std::as_const(x)(1), turned = ht::transpose(x);
    CHECK(!copy.is_adopted());
    copy += 1;
    CHECK(same(held(), global));
    x *= 2;
    x(0) = 7;
    x += x(1);
    auto expected = global * 2;
    expected[0] = 7;
    expected += expected[1].clone();
    CHECK(same(held(), expected));
    CHECK(same(copy, global + 1));
    CHECK(same(row, global[1]));
    CHECK(same(turned, global.t()));
    x = x * 2 + 1;
    CHECK(same(held(), expected * 2 + 1));
    const auto before = x;
    x = copy;
    CHECK(same(held(), global + 1));
    CHECK(same(before, expected * 2 + 1));
    CHECK_THROWS_WITH(x = ht::sum(x, 0), Catch::Contains("[operator=] got an array of shape (4,)"));
    CHECK_THROWS_AS(x = x.astype(ht::float32), ht::ValueError);
    CHECK_THROWS_WITH(ht::resplit_(x, 1), Catch::Contains("[resplit_] got an array of shape (5, 4) in adopted memory"));
    const auto other = memory.clone();
    x = ht::from_local(other, {.split = layout.split()});
    x += 1;
    CHECK(same(held(), global + 1));
    CHECK(equals(other, memory + 1));
  }
}

TEST_CASE("memory that came read-only is not written, copies of it are", "[ops][value]") {
  auto x = ht::from_local(at::ones({1}).expand({4}), {.split = 0});
  CHECK_FALSE(x.is_writable());
  CHECK_THROWS_WITH(x += 1, Catch::Contains("[add_] got an array of shape"));
  CHECK_THROWS_AS(x(0) = 1, ht::ValueError);
  auto y = x;
  y += 1;
  CHECK(same(ht::sum(y), at::full({}, 8.0f * static_cast<float>(x.comm().size()))));
  CHECK(same(ht::sum(x), at::full({}, 4.0f * static_cast<float>(x.comm().size()))));
}

TEST_CASE("a write takes a copy only if elements are shared", "[ops][value][host]") {
  for (const auto& layout : every_layout({5, 4})) {
    auto x = distribute(numbers(), layout);
    x += 1;
    const auto* memory = x.larray().const_data_ptr();
    x += x;
    x += x(1);
    x(0) = x(1);
    x(0) += x(ht::slice(1, 3))(0);
    x(x > 3) = 5;
    x = x.astype(ht::float64);
    ht::fill_diagonal(x, x(0, 0));
    auto y = std::move(x);
    static_cast<void>(y.local<double>());
    CHECK(y.larray().const_data_ptr() == memory);
    const auto z = y;
    CHECK(z.larray().const_data_ptr() == memory);
    y += 1;
    if (y.larray().numel() > 0) CHECK(y.larray().const_data_ptr() != memory);
    CHECK(z.larray().const_data_ptr() == memory);
  }
}

TEST_CASE("writes that would be lost do not compile", "[ops][value]") {
  STATIC_REQUIRE_FALSE(WritableAsTemporary<ht::DNDarray>);
  STATIC_REQUIRE_FALSE(WritableAsTemporary<const ht::DNDarray>);
  STATIC_REQUIRE(WritableAsTemporary<ht::Selection>);
  STATIC_REQUIRE_FALSE(ReadableAsTemporary<ht::DNDarray>);
  STATIC_REQUIRE_FALSE(AssignableFromNumber<ht::DNDarray>);
  STATIC_REQUIRE_FALSE(AssignableFromNumber<ht::Selection>);
  STATIC_REQUIRE_FALSE(std::is_assignable_v<ht::DNDarray&&, ht::DNDarray>);
  STATIC_REQUIRE_FALSE(std::is_assignable_v<const ht::DNDarray&, ht::DNDarray>);
  STATIC_REQUIRE(std::is_assignable_v<ht::Selection&&, ht::DNDarray>);
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<ht::DNDarray>);
  STATIC_REQUIRE(std::is_constructible_v<double, ht::DNDarray>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<ht::DNDarray, double>);
  STATIC_REQUIRE_FALSE(std::is_assignable_v<ht::Selection&, int>);
  const auto x = ht::zeros({4});
  STATIC_REQUIRE(std::is_const_v<std::remove_reference_t<decltype(ht::split(x, 2)[0])>>);
  STATIC_REQUIRE(std::is_const_v<std::remove_reference_t<decltype(ht::unstack(x)[0])>>);
  STATIC_REQUIRE(std::is_const_v<std::remove_reference_t<decltype(ht::broadcast_arrays({x})[0])>>);
}

TEST_CASE("properties of temporaries outlive them", "[ops][value]") {
  const auto x = distribute(numbers(), every_layout({5, 4}).front());
  std::int64_t elements = 1;
  for (const auto extent : ht::sum(x, {.axis = 0, .keepdims = true}).shape()) elements *= extent;
  CHECK(elements == 4);
  const auto& block = (x + 1).larray();
  CHECK(block.sizes() == x.larray().sizes());
}

TEST_CASE("arrays are members, values of maps and elements of vectors before they are set", "[ops][value]") {
  ht::DNDarray none;
  CHECK_THROWS_WITH(none.shape(), Catch::Contains("[DNDarray] got an array that nothing was assigned to"));
  CHECK_THROWS_AS(none + 1, ht::ValueError);
  std::map<std::string, ht::DNDarray> fields;
  fields["u"] = ht::ones({3});
  fields["u"](1) = 5;
  std::vector<ht::DNDarray> several(2);
  several[0] = fields["u"](ht::slice(0, 2));
  several.push_back(fields["u"](2));
  CHECK(same(several[0], at::tensor({1.0f, 5.0f})));
  CHECK(same(several[2], at::full({}, 1.0f)));
  const ht::DNDarray copy = none;
  none = fields["u"];
  CHECK(same(none, at::tensor({1.0f, 5.0f, 1.0f})));
}
