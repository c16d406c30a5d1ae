#pragma once

#include "data.hpp"

#include <heatpp/sparse/sparse.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

// The sparse matrices of the benchmarks.
namespace bench {

namespace sp = ht::sparse;

/// CSR rows, which a matrix adopts.
struct Rows {
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  void add(std::int64_t column, double value) {
    columns.push_back(static_cast<std::int32_t>(column));
    values.push_back(value);
  }
  void end_row() { row_ptr.push_back(std::ssize(columns)); }
};

/// Makes an (n, n) matrix, cut evenly, which adopts rows that fill(row, rows) adds.
template <class F>
sp::DCSRMatrix adopted_matrix(std::int64_t n, F fill) {
  const ht::Layout layout({n, n}, 0, ht::world().size());
  auto* const rows = new Rows;  // in use until the program ends
  for (auto row = layout.offset(ht::world().rank()); row < layout.offset(ht::world().rank() + 1); ++row) {
    fill(row, *rows);
    rows->end_row();
  }
  return sp::from_local({std::span<const std::int64_t>(rows->row_ptr), std::span<const std::int32_t>(rows->columns),
                         rows->values.data(), ht::float64},
                        n, {.split = 0});
}

/// Makes the matrix with values of its own, in memory of heatpp.
template <class F>
sp::DCSRMatrix matrix(std::int64_t n, F fill) {
  return adopted_matrix(n, fill) * 1.0;
}

/// Makes a matrix with 6 on the diagonal and -1 for the neighbors on a grid of side^3 points.
inline sp::DCSRMatrix laplacian(std::int64_t side) {
  return matrix(side * side * side, [side](std::int64_t row, Rows& rows) {
    const auto x = row % side, y = row / side % side, z = row / side / side;
    if (z > 0) rows.add(row - side * side, -1);
    if (y > 0) rows.add(row - side, -1);
    if (x > 0) rows.add(row - 1, -1);
    rows.add(row, 6);
    if (x + 1 < side) rows.add(row + 1, -1);
    if (y + 1 < side) rows.add(row + side, -1);
    if (z + 1 < side) rows.add(row + side * side, -1);
  });
}

/// Makes ten random edges for each of 10^6 vertices.
inline sp::DCSRMatrix random_graph() {
  constexpr std::int64_t n = 1'000'000, edges = 10;
  return matrix(n, [](std::int64_t row, Rows& rows) {
    std::array<std::uint64_t, edges> to;
    const auto first = static_cast<std::uint64_t>(row * edges);
    for (std::uint64_t j = 0; j < edges; ++j) to[j] = hash(132, first + j) % n;
    std::ranges::sort(to);
    for (std::uint64_t j = 0; j < edges; ++j)
      if (j == 0 || to[j] != to[j - 1])
        rows.add(static_cast<std::int64_t>(to[j]), static_cast<double>(uniform(133, first + j)));
  });
}

/// Returns the path of a file in the format of `whose`.
inline std::filesystem::path sparse_file(const std::string& whose, const std::string& ending) {
  const char* directory = std::getenv("HEATPP_BENCH_DATA");
  return std::filesystem::path(directory ? directory : ".") / (whose + "_sparse" + ending);
}

inline ht::DNDarray numbers(const ht::Shape& shape) {
  return generate(shape, 0, [](std::uint64_t i) { return static_cast<double>(normal(131, i)); });
}

}  // namespace bench
