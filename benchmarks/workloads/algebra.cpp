// Products and decompositions of matrices.
#include "../check.hpp"
#include "../data.hpp"
#include "../workload.hpp"

namespace bench {
namespace {

constexpr int none = -1;

std::optional<int> split_of(int axis) { return axis == none ? std::nullopt : std::optional(axis); }

template <int A, int B>
Prepared matmul() {
  const ht::Shape shape{3000, 3000};
  return timed([a = generate<normal>(73, shape, split_of(A)),
                b = generate<normal>(74, shape, split_of(B))] { return ht::matmul(a, b); },
               check_sums);
}

/// On nearly square blocks, which are a split on two ranks.
Prepared matmul_on_grid() {
  const auto on_grid = [](std::uint64_t seed) {
    return ht::regrid(generate<normal>(seed, {3000, 3000}), ht::balanced_grid);
  };
  return timed([a = on_grid(73), b = on_grid(74)] { return ht::matmul(a, b); },
               [](const ht::DNDarray& c) { return check_sums(ht::resplit(c, 0)); });
}

/// Multiplies 512 pairs of matrices of 128 x 128.
Prepared einsum() {
  const auto stack = [](std::uint64_t seed) {
    return ht::reshape(generate<normal>(seed, {512 * 128, 128}), {512, 128, 128});
  };
  return timed([a = stack(77), b = stack(78)] { return ht::einsum("bij,bjk->bik", a, b); },
               [](const ht::DNDarray& c) {
                 return check_sums(ht::reshape(c, {512 * 128, 128}));
               });
}

Prepared qr() {
  return timed([x = generate<normal>(75, {200'000, 128})] { return ht::linalg::qr(x); },
               [](const auto& parts) { return check_sums(ht::abs(parts.r)); });
}

}  // namespace

std::vector<Workload> algebra_workloads() {
  return {{"matmul_00", "matmul", matmul<0, 0>},    {"matmul_00", "on a grid", matmul_on_grid},
          {"matmul_01", "matmul", matmul<0, 1>},    {"matmul_10", "matmul", matmul<1, 0>},
          {"matmul_11", "matmul", matmul<1, 1>},    {"matmul_0N", "matmul", matmul<0, none>},
          {"matmul_N1", "matmul", matmul<none, 1>}, {"qr", "qr", qr},
          {"einsum", "512 x 128^2", einsum}};
}

}  // namespace bench
