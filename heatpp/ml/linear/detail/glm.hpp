#pragma once

#include <heatpp/ml/linear/detail/lbfgs.hpp>
#include <heatpp/ml/detail/pieces.hpp>
#include <heatpp/ml/estimator.hpp>

namespace heatpp::ml::detail {

/// Returns the sum of the weighted losses of this rank's rows from `first` on, for margins x coef + intercept of shape
/// (rows, outputs); overwrites these by the derivatives. Local.
using RowLoss = std::function<double(at::Tensor& margins, std::int64_t first)>;

/// Whether the penalty is added to the sum or to the mean of the losses.
enum class PenaltyBeside { sum, mean };

/// A generalized linear model: minimizes the losses + l2 |coef|^2 / 2 + l1 |coef|_1.
struct LinearLoss {
  const char* op;
  const Rows& rows;
  const double* weights;  ///< of this rank's rows, or null
  RowLoss loss;
  std::int64_t outputs;
  double l2, l1;  ///< the intercept has no penalty
  PenaltyBeside beside;
  bool intercept;
};
struct GlmOptions {
  std::int64_t max_iterations;
  double tol;
  FitCallback progress;
};
/// Coefficients and intercepts: (outputs, features) and (outputs,), float64.
struct GlmFit {
  at::Tensor coef, intercept;
  std::int64_t iterations = 0;
  bool converged = false;
};
/// Fits by L-BFGS from `start`, in coordinates where each column has mean 0 and variance 1, less if the penalty of
/// squares outweighs it: numbers far from 0 keep their accuracy, and the scales of columns do not change the number of
/// steps. Collective: one all-reduce of 24 (features + 1) bytes and for each evaluation, one or two an iteration, one
/// of 8 (outputs (features + 1) + 2); none if rows are replicated.
[[nodiscard]] GlmFit fitted(const LinearLoss& problem, const GlmFit& start, const GlmOptions& options);

}  // namespace heatpp::ml::detail
