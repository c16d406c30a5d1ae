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

}  // namespace

std::vector<Workload> algebra_workloads() {
  return {{"matmul_00", "matmul", matmul<0, 0>},    {"matmul_01", "matmul", matmul<0, 1>},
          {"matmul_10", "matmul", matmul<1, 0>},    {"matmul_11", "matmul", matmul<1, 1>},
          {"matmul_0N", "matmul", matmul<0, none>}, {"matmul_N1", "matmul", matmul<none, 1>}};
}

}  // namespace bench
