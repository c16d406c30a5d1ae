// Sparse matrices.
#include "../check.hpp"
#include "../matrices.hpp"
#include "../workload.hpp"

#include <heatpp/sparse/io/files.hpp>

namespace bench {
namespace {

Prepared product(const sp::DCSRMatrix& a, const ht::DNDarray& x) {
  return timed([=] { return sp::matmul(a, x); }, check_sums);
}

Prepared spmv() { return product(laplacian(200), numbers({8'000'000})); }
/// Measures the limit of spmv: reads the entries and the vector once, and writes as many numbers.
Prepared bare_read() {
  const auto a = laplacian(200);
  const auto x = numbers({8'000'000});
  const auto read = [=, values = a.values(), columns = a.column_indices()] {
    std::array<double, 8> sums{};
    std::array<std::int32_t, 8> places{};
    const auto value = values.local<double>();
    const auto column = columns.local<std::int32_t>();
    for (std::size_t i = 0; i + 8 <= value.size(); i += 8)
      for (std::size_t l = 0; l < 8; ++l) sums[l] += value[i + l], places[l] += column[i + l];
    auto y = ht::empty_like(x);
    const auto from = x.local<double>();
    const auto to = y.local<double>();
    const auto* const ends = a.row_ptr().data();
    for (std::size_t i = 0; i < from.size(); ++i)
      to[i] = from[i] + sums[i % 8] + places[i % 8] + static_cast<double>(ends[i]);
    return y;
  };
  return timed(read, [=](const ht::DNDarray&) { return check_sums(sp::matmul(a, x)); });
}

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

constexpr char mtx[] = ".mtx", npz[] = ".npz", h5[] = ".h5", petsc[] = ".petsc";

template <const char* Ending>
Prepared load() {
  const auto path = sparse_file("heatpp", Ending);
  sp::save(laplacian(64) / 3, path);
  return timed([path] { return sp::load(path); }, [](const auto& a) { return check_sums(a.values()); });
}

template <const char* Ending>
Prepared save() {
  return timed(
      [a = laplacian(64) / 3, path = sparse_file("saved_by_heatpp", Ending)] {
        sp::save(a, path);
        return path;
      },
      [](const auto& path) { return check_sums(sp::load(path).values()); });
}

}  // namespace

std::vector<Workload> sparse_workloads() {
  return {{"spmv", "7-point, 200^3", spmv},
          {"spmv", "bare read", bare_read},
          {"spmv_random", "10^6 x 10", spmv_random},
          {"spmm", "10^6 x 10, 32 columns", spmm},
          {"spgemm", "7-point, 100^3", spgemm},
          {"cg", "7-point, 128^3, 50 iterations", cg},
          {"sparse_load", "Matrix Market", load<mtx>, "mtx"},
          {"sparse_load", "NPZ", load<npz>, "npz"},
          {"sparse_load", "HDF5", load<h5>, "h5"},
          {"sparse_load", "PETSc", load<petsc>, "petsc"},
          {"sparse_save", "Matrix Market", save<mtx>, "mtx"},
          {"sparse_save", "NPZ", save<npz>, "npz"},
          {"sparse_save", "HDF5", save<h5>, "h5"},
          {"sparse_save", "PETSc", save<petsc>, "petsc"}};
}

}  // namespace bench
