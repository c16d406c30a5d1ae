// Sparse matrices.
#include "../check.hpp"
#include "../matrices.hpp"
#include "../workload.hpp"

namespace bench {
namespace {

Prepared product(const sp::DCSRMatrix& a, const ht::DNDarray& x) {
  return timed([=] { return sp::matmul(a, x); }, check_sums);
}

Prepared spmv() { return product(laplacian(200), numbers({8'000'000})); }
Prepared spmv_random() { return product(random_graph(), numbers({1'000'000})); }
Prepared spmm() { return product(random_graph(), numbers({1'000'000, 32})); }

Prepared spgemm() {
  return timed([a = laplacian(100)] { return sp::matmul(a, a); },
               [](const sp::DCSRMatrix& c) { return check_sums(c.values()); });
}

Prepared cg() {
  constexpr std::int64_t side = 128;
  return timed(
      [a = laplacian(side), b = numbers({side * side * side})] {
        return ht::linalg::solve_cg(a, b, {.rtol = 0, .max_iterations = 50});
      },
      [](const ht::linalg::Solved& found) { return check_sums(found.x); });
}

}  // namespace

std::vector<Workload> sparse_workloads() {
  return {{"spmv", "7-point, 200^3", spmv},
          {"spmv_random", "10^6 x 10", spmv_random},
          {"spmm", "10^6 x 10, 32 columns", spmm},
          {"spgemm", "7-point, 100^3", spgemm},
          {"cg", "7-point, 128^3, 50 iterations", cg}};
}

}  // namespace bench
