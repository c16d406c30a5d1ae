#pragma once

#include "sparse_data.hpp"

/// Returns the 5-point Laplacian of a square of m x m points: 4 on the diagonal, -1 for neighbors.
inline sp::DCSRMatrix poisson(std::int64_t m, std::optional<int> split = 0) {
  const auto n = m * m;
  auto beside = at::full({n - 1}, -1.0, at::kDouble);
  beside.slice(0, m - 1, std::nullopt, m).zero_();
  const auto one = [](double x) { return ht::array({x}, {.dtype = ht::float64}); };
  return sp::eliminate_zeros(sp::diags({one(4), ht::from_tensor(beside), ht::from_tensor(beside), one(-1), one(-1)},
                                       {0, 1, -1, m, -m}, {n, n}, {.split = split}));
}

/// Returns a matrix that every rank has, cut by `layout`.
inline sp::DCSRMatrix cut_as(const sp::DCSRMatrix& a, const ht::Layout& layout) {
  if (!layout.split()) return a;
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < layout.ranks(); ++rank) counts.push_back(layout.count(rank));
  return sp::redistribute(sp::resplit(a, 0), counts);
}
