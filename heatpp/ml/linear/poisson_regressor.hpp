#pragma once

#include <heatpp/ml/linear/linear_regressor.hpp>

namespace heatpp {

struct PoissonOptions {
  double alpha = 1;         ///< weight of |coef|^2 / 2, added to the mean of half the deviance
  bool intercept = true;    ///< without a penalty
  bool warm_start = false;  ///< start from the fitted state, if it has as many features
  std::int64_t max_iterations = 100;
  double tol = 1e-4;  ///< ends if the gradient, for columns scaled as in LogisticRegression, is at most this
  FitCallback progress = {};
};

/// Poisson regression of numbers >= 0, such as counts, with expectation exp(x coef + intercept), by L-BFGS.
class PoissonRegressor : protected LinearRegressor {
 public:
  explicit PoissonRegressor(const PoissonOptions& options = {})
      : LinearRegressor("PoissonRegressor"), options_(options) {}
  [[nodiscard]] const PoissonOptions& options() const { return options_; }
  /// Fits to (samples, features) rows and (samples,) numbers. Collective: one all-reduce of 32 bytes, one of 24
  /// (features + 1), and for each evaluation, one or two an iteration, one of 8 (features + 4); none if rows are
  /// replicated. Throws ValueError for numbers that are not finite, targets below 0 or all 0, targets of another shape,
  /// weights and options out of range.
  PoissonRegressor& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  /// Returns the expectations for rows, (samples,), split as the rows. Local for arrays. Errors as LinearRegressor.
  [[nodiscard]] DNDarray predict(const Rows& x) const;
  /// Returns D^2 = 1 - deviance of the predictions / deviance of the mean. Collective: an all-reduce of 32 bytes and
  /// one of 24, besides that of weights. Errors as fit and predict.
  [[nodiscard]] double score(const Rows& x, const DNDarray& y, const FitOptions& options = {}) const;
  using LinearRegressor::coef;
  using LinearRegressor::intercept;
  [[nodiscard]] std::int64_t iterations() const;
  [[nodiscard]] bool converged() const;  ///< false if max_iterations ended the fit, which the log warns of
  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static PoissonRegressor from_state(const ModelState& state);

 private:
  PoissonOptions options_;
  std::int64_t iterations_ = 0;
  bool converged_ = false;
};

}  // namespace heatpp
