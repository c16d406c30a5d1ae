#include "matrices.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/products/product.hpp>

TEST_CASE("matmul equals LibTorch's for every pair of layouts", "[linalg][matmul]") {
  const std::vector<std::array<std::int64_t, 3>> sizes{{5, 3, 4}, {1, 7, 2}, {6, 1, 6},
                                                       {2, 9, 1}, {4, 0, 3}, {0, 2, 3}};
  for (const auto [m, k, n] : sizes) {
    const auto a = numbers({m, k}), b = numbers({k, n}) + 1;
    for_each_pair(a, b, [&](const auto& x, const auto& y) { CHECK(same(ht::matmul(x, y), at::matmul(a, b))); });
  }
}

TEST_CASE("matmul broadcasts stacks of matrices", "[linalg][matmul]") {
  const auto check = [](const at::Tensor& a, const at::Tensor& b) {
    for_each_pair(a, b, [&](const auto& x, const auto& y) { CHECK(same(ht::matmul(x, y), at::matmul(a, b))); });
  };
  check(numbers({3, 5, 2}, at::kDouble), numbers({3, 2, 4}, at::kDouble));
  check(numbers({3, 2, 4}), numbers({4, 3}));
  check(numbers({2, 4}), numbers({3, 4, 2}));
  check(numbers({3, 1, 2, 2}), numbers({2, 2, 3}));
  check(numbers({1, 2, 3}), numbers({4, 3, 2}));
}

TEST_CASE("matmul of vectors", "[linalg][matmul]") {
  const auto check = [](const at::Tensor& a, const at::Tensor& b) {
    for_each_pair(a, b, [&](const auto& x, const auto& y) { CHECK(same(ht::matmul(x, y), at::matmul(a, b))); });
  };
  check(numbers({7}), numbers({7}));
  check(numbers({5, 3}), numbers({3}));
  check(numbers({5}), numbers({5, 3}));
  check(numbers({2, 5, 3}), numbers({3}));
  check(numbers({3}), numbers({2, 3, 4}));
}

TEST_CASE("matmul in every dtype", "[linalg][matmul]") {
  for (int i = 0; i < ht::dtype_count; ++i)
    for (const auto other : {ht::uint8, ht::int32, ht::float32, ht::complex64}) {
      const auto dtype = static_cast<ht::Dtype>(i);
      const auto a = numbers({4, 5}).abs().to(ht::to_torch(dtype)), b = numbers({5, 3}).abs().to(ht::to_torch(other));
      const auto expected = at::matmul(a.to(at::kComplexDouble), b.to(at::kComplexDouble));
      const auto type = ht::to_torch(ht::promote_types(dtype, other));
      for (const auto split : {std::optional<int>(), std::optional(0), std::optional(1)}) {
        const auto x = distribute(a, ht::Layout({4, 5}, split, ht::world().size()));
        const auto y = distribute(b, ht::Layout({5, 3}, split, ht::world().size()));
        const auto real = at::isComplexType(type) ? expected : at::real(expected);
        CHECK(same(ht::matmul(x, y), real.to(type)));
      }
    }
  const auto flags = numbers({4, 5}) > 4, others = numbers({5, 3}) > 3;
  for_each_pair(flags, others, [&](const auto& x, const auto& y) {
    CHECK(same(ht::matmul(x, y), at::matmul(flags.to(at::kLong), others.to(at::kLong)) > 0));
  });
}

TEST_CASE("matmul's result is split and its bytes are as documented", "[linalg][matmul]") {
  const auto ranks = ht::world().size();
  const std::int64_t n = 12, size = n * n * 8;
  struct Case {
    std::optional<int> a, b, result;
    std::int64_t bytes;  // over all ranks
  };
  const Case cases[] = {{0, {}, 0, 0},
                        {{}, 1, 1, 0},
                        {{}, {}, {}, 0},
                        {0, 0, 0, size * (ranks - 1)},
                        {0, 1, 0, size * (ranks - 1)},
                        {1, 1, 1, size * (ranks - 1)},
                        {1, 0, 0, size * (ranks - 1)},
                        {1, {}, 0, size * (ranks - 1) / ranks},
                        {{}, 0, 1, size * (ranks - 1) / ranks}};
  for (const auto& [a, b, result, bytes] : cases) {
    const auto x = ht::ones({n, n}, {.dtype = ht::float64, .split = a});
    const auto y = ht::ones({n, n}, {.dtype = ht::float64, .split = b});
    const auto before = ht::world().counters().bytes;
    const auto z = ht::matmul(x, y);
    std::array<std::int64_t, 1> sent{ht::world().counters().bytes - before};
    CHECK(z.split() == result);
    ht::world().allreduce(sent);
    CHECK(sent[0] == bytes);
  }
}

TEST_CASE("matmul refuses what does not fit on every rank", "[linalg][matmul]") {
  const auto x = ht::ones({5, 3}, {.split = 0});
  CHECK_THROWS_WITH(ht::matmul(x, x), Catch::Contains("[matmul] got arrays of shapes (5, 3) and (5, 3)"));
  CHECK_THROWS_AS(ht::matmul(x, ht::ones({})), ht::ValueError);
  CHECK_THROWS_AS(ht::matmul(ht::ones({2, 2, 3}), ht::ones({3, 3, 2})), ht::ValueError);
  CHECK_THROWS_AS(ht::matmul(x, ht::ones({3, 2}, {.comm = ht::self()})), ht::CommError);
}

TEST_CASE("dot, inner and outer", "[linalg][product]") {
  const auto v = numbers({5}), w = numbers({5}) * 2 + 1, m = numbers({4, 5}), cube = numbers({2, 5, 3});
  for_each_pair(v, w, [&](const auto& x, const auto& y) {
    CHECK(same(ht::dot(x, y), at::dot(v, w)));
    CHECK(same(ht::vdot(x, y), at::dot(v, w)));
    CHECK(same(ht::inner(x, y), at::dot(v, w)));
    CHECK(same(ht::vecdot(x, y), at::dot(v, w)));
    CHECK(same(ht::outer(x, y), at::outer(v, w)));
    CHECK(same(ht::kron(x, y), at::kron(v, w)));
  });
  for_each_pair(m, cube, [&](const auto& x, const auto& y) {
    CHECK(same(ht::dot(x, y), at::tensordot(m, cube, {1}, {1})));
    CHECK(same(ht::tensordot(x, y, {{-1}, {1}}), at::tensordot(m, cube, {1}, {1})));
  });
  for_each_pair(m, v, [&](const auto& x, const auto& y) {
    CHECK(same(ht::inner(x, y), at::matmul(m, v)));
    CHECK(same(ht::matvec(x, y), at::matmul(m, v)));
    CHECK(same(ht::outer(x, y), at::outer(m.flatten(), v)));
  });
  CHECK(ht::dot(ht::full({}, 3), ht::full({2}, 4, {.split = 0})).to_vector<int>() == std::vector{12, 12});
}

TEST_CASE("outer products of infinite complex numbers are those of their elements", "[linalg][product]") {
  constexpr auto inf = std::numeric_limits<double>::infinity();
  const auto re = at::tensor({inf, 1., 0., 2., -inf, 3., 4.}), im = at::tensor({0., -0., inf, 3., 1., 0., -1.});
  const auto v = at::complex(re, im);
  const auto expected = at::complex(at::outer(re, re) - at::outer(im, im), at::outer(re, im) + at::outer(im, re));
  for_each_pair(v, v, [&](const auto& x, const auto& y) {
    CHECK(same(ht::outer(x, y), expected));
    CHECK(same(ht::kron(x, y), expected.flatten()));
  });
}

TEST_CASE("conjugated products", "[linalg][product]") {
  const auto a = at::complex(numbers({3, 4}, at::kDouble), numbers({3, 4}, at::kDouble) + 1);
  const auto b = at::complex(numbers({3, 4}, at::kDouble) * 2, numbers({3, 4}, at::kDouble) - 3);
  for_each_pair(a, b, [&](const auto& x, const auto& y) {
    CHECK(same(ht::vdot(x, y), (a.conj() * b).sum()));
    CHECK(same(ht::vecdot(x, y), (a.conj() * b).sum(-1)));
    CHECK(same(ht::vecdot(x, y, 0), (a.conj() * b).sum(0)));
  });
  const auto v = a.select(1, 0).contiguous();
  for_each_pair(v, b, [&](const auto& x, const auto& y) { CHECK(same(ht::vecmat(x, y), at::matmul(v.conj(), b))); });
  const auto flat = a.reshape({2, 6}).contiguous();
  for_each_pair(flat, b, [&](const auto& x, const auto& y) { CHECK(same(ht::vdot(x, y), (a.conj() * b).sum())); });
}

TEST_CASE("tensordot and kron", "[linalg][product]") {
  const auto a = numbers({2, 3, 4}), b = numbers({4, 3, 2}) + 2;
  for_each_pair(a, b, [&](const auto& x, const auto& y) {
    CHECK(same(ht::tensordot(x, y, {{2, 1}, {0, 1}}), at::tensordot(a, b, {2, 1}, {0, 1})));
    CHECK(same(ht::tensordot(x, y, {{0, 1, 2}, {2, 1, 0}}), at::tensordot(a, b, {0, 1, 2}, {2, 1, 0})));
    CHECK(same(ht::tensordot(x, y, 1), at::tensordot(a, b, {2}, {0})));
  });
  const auto m = numbers({2, 3}), n = numbers({4, 2});
  for_each_pair(m, n, [&](const auto& x, const auto& y) {
    CHECK(same(ht::kron(x, y), at::kron(m, n)));
    for (const int axes : {0, -1, -2}) CHECK(same(ht::tensordot(x, y, axes), at::tensordot(m, n, {}, {})));
  });
  const auto v = numbers({3});
  for_each_pair(v, n, [&](const auto& x, const auto& y) { CHECK(same(ht::kron(x, y), at::kron(v, n))); });
  CHECK_THROWS_AS(ht::tensordot(distribute(a, ht::Layout({2, 3, 4}, 0, ht::world().size())), ht::ones({3}), 4),
                  ht::ValueError);
  CHECK_THROWS_AS(ht::tensordot(ht::ones({2, 2}), ht::ones({2, 2}), {{0, 0}, {0, 1}}), ht::ValueError);
}

TEST_CASE("multi_dot multiplies in the best order", "[linalg][product][host]") {
  const auto a = numbers({2, 6}), b = numbers({6, 1}), c = numbers({1, 7}), v = numbers({7});
  for_each_pair(a, c, [&](const auto& x, const auto& y) {
    const auto z = ht::resplit(ht::from_tensor(b), 0);
    CHECK(same(ht::linalg::multi_dot({x, z, y}), at::matmul(at::matmul(a, b), c)));
    CHECK(same(ht::linalg::multi_dot({x, z, y, ht::from_tensor(v)}), at::mv(at::matmul(at::matmul(a, b), c), v)));
  });
  CHECK_THROWS_AS(ht::linalg::multi_dot({ht::ones({2, 2})}), ht::ValueError);
}
