#pragma once

#include <heatpp/ml/detail/pieces.hpp>
#include <heatpp/ml/estimator.hpp>

namespace heatpp::ml::detail {

/// Rows to cluster, and their weights on this rank, or null.
struct Weighted {
  const char* op;
  const Rows& rows;
  const double* weights;
};

struct LloydOptions {
  std::int64_t max_iterations = 300;
  double tolerance = 0;  ///< for the sum of the squared shifts of all centers
  FitCallback progress = {};
};
struct LloydResult {
  at::Tensor centers;  ///< (k, features), float64
  std::int64_t iterations = 0;
  bool converged = false;
  bool asked = false;  ///< whether `progress` asked to end
};
/// Runs Lloyd's algorithm (1982) from the (k, features) float64 `centers` until no label changes or the centers stay. A
/// center without rows moves to the row farthest from its own center, which that cluster's sum then leaves out.
/// Collective: one all-reduce of 8 (k (features + 1) + 4) bytes an iteration, none if rows are replicated.
[[nodiscard]] LloydResult lloyd(const Weighted& data, at::Tensor centers, const LloydOptions& options);

}  // namespace heatpp::ml::detail
