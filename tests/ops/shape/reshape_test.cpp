#include "../../support.hpp"

#include <heatpp/ops/shape/reshape.hpp>

TEST_CASE("reshape equals LibTorch's for every layout", "[ops][reshape]") {
  const auto global = at::arange(6 * 4 * 5, at::kInt).reshape({6, 4, 5});
  for (const auto& layout : every_layout({6, 4, 5})) {
    const auto x = distribute(global, layout);
    for (const ht::Shape& shape :
         {ht::Shape{120}, {6, 20}, {6, -1, 2}, {24, 5}, {5, 24}, {2, 3, 4, 5}, {1, 120, 1}, {6, 4, 5, 1}})
      CHECK(same(ht::reshape(x, shape), global.reshape(shape)));
    CHECK(same(ht::flatten(x), global.flatten()));
  }
}

TEST_CASE("single elements and empty arrays reshape", "[ops][reshape]") {
  for (const auto& layout : every_layout({1, 1})) {
    CHECK(same(ht::reshape(distribute(at::full({1, 1}, 3), layout), {}), at::full({}, 3)));
  }
  for (const auto& layout : every_layout({0, 3}))
    CHECK(ht::reshape(distribute(at::zeros({0, 3}), layout), {3, 0, 2}).shape() == ht::Shape{3, 0, 2});
  CHECK(same(ht::reshape(ht::full({}, 3), {1, 1}), at::full({1, 1}, 3, at::kLong)));
}

TEST_CASE("axes after the split fold without communication", "[ops][reshape]") {
  const auto x = ht::zeros({8, 2, 3}, {.split = 0});
  const auto before = ht::comm_report().calls;
  CHECK(ht::reshape(x, {8, 6}).split() == 0);
  CHECK(ht::comm_report().calls == before);
}

TEST_CASE("a bad shape is an error that names both", "[ops][reshape]") {
  const auto x = ht::zeros({4, 3}, {.split = 0});
  CHECK_THROWS_WITH(ht::reshape(x, {5, 2}), Catch::Contains("got shape (5, 2) for an array of shape (4, 3)"));
  CHECK_THROWS_AS(ht::reshape(x, {-1, -1}), ht::ValueError);
  CHECK_THROWS_AS(ht::reshape(x, {-1, 5}), ht::ValueError);
  CHECK_THROWS_AS(ht::reshape(x, {-1, 0}), ht::ValueError);
}
