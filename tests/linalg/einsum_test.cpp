#include "matrices.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/linalg/products/einsum.hpp>

TEST_CASE("einsum of one operand", "[linalg][einsum]") {
  const auto m = numbers({4, 4}, at::kDouble), cube = numbers({3, 4, 3}, at::kDouble);
  for (const auto& layout : every_layout({4, 4})) {
    const auto x = distribute(m, layout);
    CHECK(same(ht::einsum("ii", {x}), m.trace()));
    CHECK(same(ht::einsum("ii->i", {x}), m.diagonal()));
    CHECK(same(ht::einsum("ij->ji", {x}), m.t()));
    CHECK(same(ht::einsum("ij->", {x}), m.sum()));
    CHECK(same(ht::einsum("ij->j", {x}), m.sum(0)));
    CHECK(same(ht::einsum("ba", {x}), m.t()));
    CHECK(same(ht::einsum("...j->...", {x}), m.sum(1)));
  }
  for (const auto& layout : every_layout({3, 4, 3})) {
    const auto x = distribute(cube, layout);
    CHECK(same(ht::einsum("iji->ji", {x}), cube.diagonal(0, 0, 2)));
    CHECK(same(ht::einsum("iji->j", {x}), cube.diagonal(0, 0, 2).sum(1)));
    CHECK(same(ht::einsum("i...->...i", {x}), cube.permute({1, 2, 0})));
  }
}

TEST_CASE("einsum of two operands equals LibTorch's for every pair of layouts", "[linalg][einsum]") {
  struct Case {
    const char* subscripts;
    std::vector<std::int64_t> a, b;
  };
  const Case cases[] = {{"ij,jk->ik", {5, 3}, {3, 4}},
                        {"ij,kj->ki", {5, 3}, {4, 3}},
                        {"ij,ij->i", {5, 3}, {5, 3}},
                        {"ij,ij->ij", {5, 3}, {5, 3}},
                        {"i,j->ij", {5}, {3}},
                        {"bij,bjk->bik", {3, 2, 4}, {3, 4, 2}},
                        {"bij,kbj->ikb", {3, 2, 4}, {2, 3, 4}},
                        {"...ij,jk->...ik", {2, 3, 4}, {4, 2}},
                        {"ij,jj->i", {2, 4}, {4, 4}},
                        {"ijk,kl->jl", {2, 3, 4}, {4, 3}},
                        {"ij,jk->", {5, 3}, {3, 4}},
                        {"a...,a...->...", {3, 2, 2}, {3, 2, 2}}};
  for (const auto& [subscripts, shape_a, shape_b] : cases) {
    const auto a = numbers(shape_a, at::kDouble), b = numbers(shape_b, at::kDouble) + 1;
    const auto expected = at::einsum(subscripts, {a, b});
    for (const auto& la : every_layout(shape_of(a)))
      for (const auto& lb : every_layout(shape_of(b)))
        CHECK(same(ht::einsum(subscripts, {distribute(a, la), distribute(b, lb)}), expected));
  }
}

TEST_CASE("einsum of several operands, with extents of 1 and without an arrow", "[linalg][einsum][host]") {
  const auto a = numbers({2, 5}, at::kDouble), b = numbers({5, 3}, at::kDouble), c = numbers({3, 4}, at::kDouble);
  for (const auto& la : every_layout({2, 5}))
    for (const auto& lc : every_layout({3, 4})) {
      const auto x = distribute(a, la), z = distribute(c, lc), y = ht::resplit(ht::from_tensor(b), 1);
      CHECK(same(ht::einsum("ij,jk,kl", {x, y, z}), at::einsum("ij,jk,kl", {a, b, c})));
      CHECK(same(ht::einsum(" ij, jk , kl -> li", {x, y, z}), at::einsum("ij,jk,kl->li", {a, b, c})));
      CHECK(same(ht::einsum("ij,kl,mj->ml", {x, z, x}), at::einsum("ij,kl,mj->ml", {a, c, a})));
    }
  const auto row = numbers({1, 4}, at::kDouble);
  for (const auto& la : every_layout({1, 4}))
    for (const auto& lb : every_layout({3, 4}))
      CHECK(same(ht::einsum("ij,ij->ij", {distribute(row, la), distribute(c, lb)}), row * c));
}

TEST_CASE("einsum keeps dtypes", "[linalg][einsum]") {
  const auto bytes = (at::arange(12) * 25).to(at::kByte).reshape({4, 3}), flags = bytes > 100;
  for (const auto& layout : every_layout({4, 3})) {
    CHECK(same(ht::einsum("ij->j", {distribute(bytes, layout)}), bytes.sum(0, false, at::kByte)));
    CHECK(same(ht::einsum("ij->i", {distribute(flags, layout)}), flags.any(1)));
    CHECK(same(ht::einsum("ij,kj->ik", {distribute(bytes, layout), distribute(bytes, layout)}),
               at::matmul(bytes.to(at::kLong), bytes.to(at::kLong).t()).to(at::kByte)));
  }
}

TEST_CASE("einsum sums in the dtype of all operands", "[linalg][einsum][host]") {
  const auto bytes = at::full({4, 3}, 100, at::kChar), few = at::ones({3}, at::kLong);
  for (const auto& layout : every_layout({4, 3})) {
    const auto x = distribute(bytes, layout);
    CHECK(same(ht::einsum("ij,k->k", {x, ht::ones({3}, {.dtype = ht::int64})}), few * 1200));
    CHECK(same(ht::einsum("ij,ij,k->k", {x, x, ht::ones({3}, {.dtype = ht::int64})}), few * 120000));
  }
}

TEST_CASE("einsum refuses malformed subscripts", "[linalg][einsum]") {
  const auto x = ht::ones({4, 3}, {.split = 0});
  for (const auto* bad : {"ij,jk", "ijk", "i", "i$", "ij->ii", "ij->k", "ii", "i...j...", "ij->i->j", "ij- >i"})
    CHECK_THROWS_AS(ht::einsum(bad, {x}), ht::ValueError);
  CHECK_THROWS_WITH(ht::einsum("ij,ij", {x, ht::ones({3, 3})}), Catch::Contains("equal extents of each letter"));
  for (const auto& layout : every_layout({1, 3})) {
    const auto row = distribute(at::ones({1, 3}), layout);
    CHECK_THROWS_WITH(ht::einsum("ii->i", {row}), Catch::Contains("equal extents of each letter, not 1 and 3"));
    CHECK_THROWS_AS(ht::einsum("ji,jj->i", {row, row}), ht::ValueError);
  }
  CHECK(same(ht::einsum("ii,i->i", {ht::ones({1, 1}, {.split = 0}), ht::ones({3}, {.split = 0})}), at::ones({3})));
}
