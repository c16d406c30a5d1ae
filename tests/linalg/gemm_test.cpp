#include "matrices.hpp"

#include <heatpp/core/detail/host/threads.hpp>
#include <heatpp/linalg/decompositions/qr.hpp>
#include <heatpp/linalg/products/detail/gemm.hpp>
#include <heatpp/linalg/products/product.hpp>

#include <ATen/Parallel.h>
#include <limits>

using ht::detail::multiply_by_panels;

namespace {

/// Returns views of equal elements with contiguous rows, columns, or neither.
std::vector<at::Tensor> strided(const at::Tensor& x) {
  const auto wide = at::zeros({x.size(0), 2 * x.size(1)}, x.options());
  const auto every_second = wide.slice(1, 0, wide.size(1), 2);
  every_second.copy_(x);
  return {x, x.t().contiguous().t(), every_second};
}

}  // namespace

TEST_CASE("products by panels are those of LibTorch for all strides", "[linalg][gemm]") {
  const std::vector<std::array<std::int64_t, 3>> sizes{{64, 64, 64},     {65, 513, 67},   {300, 70, 130},
                                                       {257, 1030, 129}, {100, 64, 4200}, {7, 5, 3}};
  for (const auto [m, k, n] : sizes) {
    const auto a = numbers({m, k}, at::kFloat), b = numbers({k, n}, at::kFloat) + 1, expected = at::mm(a, b);
    for (const auto& x : strided(a))
      for (const auto& y : strided(b)) {
        const auto rows = at::full({m, n}, NAN, a.options()), columns = at::full({n, m}, NAN, a.options()).t();
        for (const auto& c : {rows, columns}) {
          multiply_by_panels(c, x, y, false);
          CHECK(equals(c, expected));
          multiply_by_panels(c, x, y, true);
          CHECK(equals(c, 2 * expected));
        }
      }
  }
}

TEST_CASE("products by panels keep to their elements and what is not finite to its rows", "[linalg][gemm]") {
  const auto a = at::ones({70, 600}), b = at::ones({600, 90});
  a[3][599] = std::numeric_limits<float>::infinity();
  a[69][0] = NAN;
  const auto around = at::full({72, 100}, -1.0F), c = around.slice(0, 1, 71).slice(1, 4, 94);

  multiply_by_panels(c, a, b, false);

  CHECK(equals(at::isfinite(c).all(1), at::isfinite(a).all(1)));
  CHECK(for_all(c[3], c[3].isinf()));
  CHECK(each_is(c[0], 600));
  CHECK(around.eq(-1).sum().item<std::int64_t>() == 72 * 100 - 70 * 90);
}

TEST_CASE("products by panels use all threads", "[linalg][gemm]") {
  const auto a = numbers({1100, 700}, at::kFloat), b = numbers({700, 900}, at::kFloat), c = at::empty({1100, 900});
  const ht::detail::ThreadsInScope threads(3);
  int polls = 0;
  multiply_by_panels(c, a, b, false, [&] { ++polls; });
  CHECK(equals(c, at::mm(a, b)));
  CHECK(polls == 4);  // two panels' depths, of 768 and 332 rows
}

TEST_CASE("thin matrices, other dtypes and lazy negatives are none for panels", "[linalg][gemm]") {
  const auto x = at::ones({64, 64});
  CHECK(ht::detail::fits_panels(x, x, x));
  CHECK_FALSE(ht::detail::fits_panels(x, x.slice(1, 0, 63), x.slice(0, 0, 63)));
  CHECK_FALSE(ht::detail::fits_panels(x.to(at::kDouble), x.to(at::kDouble), x.to(at::kDouble)));
  CHECK_FALSE(ht::detail::fits_panels(x, at::_neg_view(x), x));
  CHECK_FALSE(ht::detail::fits_panels(at::ones({128, 128}).slice(0, 0, 128, 2).slice(1, 0, 128, 2), x, x));
}

TEST_CASE("large products equal LibTorch's for every pair of layouts", "[linalg][gemm][matmul]") {
  const auto a = numbers({410, 420}, at::kFloat), b = numbers({420, 430}, at::kFloat) + 1, expected = at::mm(a, b);
  for_each_pair(a, b, [&](const auto& x, const auto& y) { CHECK(same(ht::matmul(x, y), expected)); });
}

// These are so large that blocks on the ring meet products in pieces of rows and of the summed axis.
TEST_CASE("products in pieces between looks at messages are whole", "[linalg][gemm][matmul]") {
  const auto a = numbers({6000, 600}, at::kDouble), b = numbers({600, 3000}, at::kDouble);
  const auto x = at::arange(3000, at::kDouble), expected = at::mv(a, at::mv(b, x));  // exact: all are whole numbers
  for (const int split : {0, 1}) {
    const auto c = ht::matmul(ht::resplit(ht::from_tensor(a), 0), ht::resplit(ht::from_tensor(b), split));
    CHECK(same(ht::matvec(c, ht::from_tensor(x)), expected));
  }
}

TEST_CASE("all ranks choose the same way of multiplying", "[linalg][gemm]") {
  const auto& world = ht::world();
  const auto half = *world.split(world.rank() % 2);
  for (const auto& comm : {world, half}) {
    CHECK_FALSE(ht::detail::prefers_panels(comm, 1000));
    const bool mine = ht::detail::prefers_panels(comm, 1e9);
    std::array<std::int64_t, 2> least_and_most{mine, -static_cast<std::int64_t>(mine)};
    comm.allreduce(least_and_most, ht::ReduceOp::min);
    CHECK(least_and_most[0] == -least_and_most[1]);
    const auto calls = comm.counters().calls;
    CHECK(ht::detail::prefers_panels(comm, 1e9) == mine);
    CHECK(comm.counters().calls == calls);
  }
}

TEST_CASE("tall matrices decompose as LAPACK does, by one factor or two", "[linalg][gemm][qr]") {
  const auto random = scattered({20000, 66}, at::kFloat);
  for (const auto& global : {random, random + 1}) {  // nearly orthogonal columns, and others far from it
    const auto [q, r] = at::linalg_qr(global.to(at::kDouble));
    for (const auto& layout : every_layout({20000, 66})) {
      const auto parts = ht::linalg::qr(distribute(global, layout));
      const auto mine = gathered(parts.q).to(at::kDouble);
      const auto beside = at::mm(mine.t(), mine) - at::eye(66, mine.options());
      CHECK(beside.abs().max().item<double>() < 3e-6);
      CHECK((mine - q).abs().max().item<double>() < 1e-4);
      CHECK((gathered(parts.r) - r).abs().max().item<double>() < 1e-2);
    }
  }
}
