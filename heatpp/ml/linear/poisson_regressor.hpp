#pragma once

#include <heatpp/ml/linear/linear_regressor.hpp>

namespace heatpp {

struct PoissonOptions {
  double alpha = 1;         ///< of |coef|^2 / 2, beside the mean of half the deviance
  bool intercept = true;    ///< not in |coef|
  bool warm_start = false;  ///< go on from what was learnt of as many features, if there is
  std::int64_t max_iterations = 100;
  double tol = 1e-4;  ///< ends where the gradient, of columns as of LogisticRegression, is at most this
  FitCallback progress = {};
};

/// Counts, or other numbers of 0 or more, whose expectation is exp(x coef + intercept), by L-BFGS.
class PoissonRegressor : protected LinearRegressor {
 public:
  explicit PoissonRegressor(const PoissonOptions& options = {})
      : LinearRegressor("PoissonRegressor"), options_(options) {}
  [[nodiscard]] const PoissonOptions& options() const { return options_; }
  /// Learns from (samples, features) rows and (samples,) numbers. Collective: one all-reduce of 32 bytes, one of 24
  /// (features + 1), and for each evaluation, one or two an iteration, one of 8 (features + 4); none where rows are
  /// replicated. Throws ValueError for numbers that are not finite, targets below 0 or all 0, targets of another shape,
  /// weights and options out of range.
  PoissonRegressor& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  /// The expectations of rows, (samples,), split as the rows. Local for arrays. Errors as LinearRegressor.
  [[nodiscard]] DNDarray predict(const Rows& x) const;
  /// D^2, 1 - the deviance of the predictions / that of the mean. Collective: an all-reduce of 32 bytes and one of 24,
  /// besides that of weights. Errors as fit and predict.
  [[nodiscard]] double score(const Rows& x, const DNDarray& y, const FitOptions& options = {}) const;
  using LinearRegressor::coef;
  using LinearRegressor::intercept;
  [[nodiscard]] std::int64_t iterations() const;
  [[nodiscard]] bool converged() const;  ///< or else iterations ended before, which the log is warned of
  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static PoissonRegressor from_state(const ModelState& state);

 private:
  PoissonOptions options_;
  std::int64_t iterations_ = 0;
  bool converged_ = false;
};

}  // namespace heatpp
