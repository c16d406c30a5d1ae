#pragma once

#include <heatpp/ml/linear/detail/lbfgs.hpp>
#include <heatpp/ml/detail/pieces.hpp>
#include <heatpp/ml/estimator.hpp>

namespace heatpp::ml::detail {

/// The sum of the weighted losses of rows `first` .. of this rank whose margins, x coef + intercept of shape (rows,
/// outputs), are given, and become its derivatives. Local.
using RowLoss = std::function<double(at::Tensor& margins, std::int64_t first)>;

/// Whether the sum or the mean of the losses has the penalty beside it.
enum class PenaltyBeside { sum, mean };

/// A generalised linear model: the losses + l2 |coef|^2 / 2 + l1 |coef|_1 are to be least.
struct LinearLoss {
  const char* op;
  const Rows& rows;
  const double* weights;  ///< of this rank's rows, or null
  RowLoss loss;
  std::int64_t outputs;
  double l2, l1;  ///< the intercept is free
  PenaltyBeside beside;
  bool intercept;
};
struct GlmOptions {
  std::int64_t max_iterations;
  double tol;
  FitCallback progress;
};
/// (outputs, features) and (outputs,), float64.
struct GlmFit {
  at::Tensor coef, intercept;
  std::int64_t iterations = 0;
  bool converged = false;
};
/// L-BFGS from `start` on, in coordinates in which each column has mean 0 and variance 1, less where the penalty of
/// squares outweighs it: numbers far from 0 lose nothing, and columns of all scales are learnt in as few steps.
/// Collective: one all-reduce of 24 (features + 1) bytes and for each evaluation, one or two an iteration, one of 8
/// (outputs (features + 1) + 2); none where rows are replicated.
[[nodiscard]] GlmFit fitted(const LinearLoss& problem, const GlmFit& start, const GlmOptions& options);

}  // namespace heatpp::ml::detail
