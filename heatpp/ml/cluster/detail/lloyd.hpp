#pragma once

#include <heatpp/ml/detail/pieces.hpp>
#include <heatpp/ml/estimator.hpp>

namespace heatpp::ml::detail {

/// Rows to be divided into clusters, and this rank's weights of them, or null.
struct Weighted {
  const char* op;
  const Rows& rows;
  const double* weights;
};

struct LloydOptions {
  std::int64_t max_iterations = 300;
  double tolerance = 0;  ///< of the sum of the squared shifts of all centres
  FitCallback progress = {};
};
struct LloydResult {
  at::Tensor centres;  ///< (k, features), float64
  std::int64_t iterations = 0;
  bool converged = false;
  bool asked = false;  ///< by `progress` to end
};
/// Lloyd's algorithm (1982) from the (k, features) float64 `centres`, until no label changes or the centres stay. A
/// centre without rows becomes the row that lies farthest from its own, which leaves the sum that it was in.
/// Collective: one all-reduce of 8 (k (features + 1) + 4) bytes an iteration, none where rows are replicated.
[[nodiscard]] LloydResult lloyd(const Weighted& data, at::Tensor centres, const LloydOptions& options);

}  // namespace heatpp::ml::detail
