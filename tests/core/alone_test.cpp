#include <heatpp/core/factories.hpp>
#include <heatpp/core/literal.hpp>
#include <heatpp/core/selection.hpp>
#include <heatpp/core/slice.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/operands/operand.hpp>

#include "../support.hpp"

// This program links heatpp::core alone: what DNDarray and Selection declare needs no other library.

namespace {

at::Tensor table() { return at::arange(24, at::kDouble).reshape({6, 4}); }

ht::DNDarray table_of(const ht::Layout& layout) { return distribute(table(), layout); }

}  // namespace

TEST_CASE("DNDarray's indexing links with heatpp::core alone", "[core][alone]") {
  const auto all = table();
  const std::vector<ht::Index> row{ht::Index(2)};
  for (const auto& layout : every_layout({6, 4})) {
    auto x = table_of(layout);
    const auto& read = x;
    CHECK(same(x.index({2}), all[2]));
    CHECK(same(x.index(row), all[2]));
    CHECK(same(read(ht::slice(1, 5, 2)), all.slice(0, 1, 5, 2)));
    CHECK(same(read({5, 0}), all.index_select(0, at::tensor({5, 0}))));
    CHECK(same(table_of(layout)({5, 0}), all.index_select(0, at::tensor({5, 0}))));
    CHECK(same(table_of(layout)(ht::ellipsis, 1), all.select(1, 1)));

    x.index_put({1}, 7);
    x.index_put(row, 8);
    x.index_put({0}, {1, 2, 3, 4});
    auto expected = all.clone();
    expected[1].fill_(7);
    expected[2].fill_(8);
    expected[0] = at::tensor({1, 2, 3, 4});
    CHECK(same(x, expected));
  }
}

TEST_CASE("Selection's assignments link with heatpp::core alone", "[core][alone]") {
  const auto all = table();
  for (const auto& layout : every_layout({6, 4})) {
    auto x = table_of(layout);
    const auto y = table_of(layout);
    x(0) = 5;
    x(1) = {1, 2, 3, 4};
    x(2) = x(3);
    x(3)(ht::slice(1, 3)) = y(5)(ht::slice(0, 2));
    swap(x(4), x(5));
    auto expected = all.clone();
    expected[0].fill_(5);
    expected[1] = at::tensor({1, 2, 3, 4});
    expected[2] = all[3];
    expected[3].slice(0, 1, 3) = all[5].slice(0, 0, 2);
    expected[4] = all[5];
    expected[5] = all[4];
    CHECK(same(x, expected));

    auto named = x(0);
    named = y;
    CHECK(same(named, all));
    CHECK(same(x, expected));
  }
}

TEST_CASE("DNDarray's other members link with heatpp::core alone", "[core][alone]") {
  for (const auto& layout : every_layout({6, 4})) {
    auto x = table_of(layout);
    CHECK(same(x.astype(ht::int64), table().to(at::kLong)));
    CHECK(same(x.to_device(x.device()), table()));
    CHECK(x.is_writable());
    CHECK_FALSE(x.is_adopted());
    CHECK(x.index({1, 2}).item<double>() == 6);
    CHECK(int(x.index({1, 2})) == 6);
    CHECK(x.to_vector<double>().back() == 23);
    CHECK(std::ssize(std::as_const(x).local<double>()) == x.larray().numel());
    CHECK(std::ssize(x.local<double>()) == x.mutable_larray().numel());

    auto copy = x;
    copy = ht::zeros({2});
    CHECK(same(copy, at::zeros({2})));
    CHECK(same(x, table()));
  }
}
