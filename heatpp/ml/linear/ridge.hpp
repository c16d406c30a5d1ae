#pragma once

#include <heatpp/ml/linear/linear_regressor.hpp>

namespace heatpp {

struct LinearRegressionOptions {
  bool intercept = true;  ///< false: the plane goes through 0
};
/// Ordinary least squares, of least norm if several solutions exist: one pass, and one or two more if columns are
/// nearly dependent (condition number beyond 3000 for columns of equal length).
class LinearRegression : public LinearRegressor {
 public:
  explicit LinearRegression(const LinearRegressionOptions& options = {})
      : LinearRegressor("LinearRegression"), options_(options) {}
  [[nodiscard]] const LinearRegressionOptions& options() const { return options_; }
  /// Fits to (samples, features) rows and (samples,) or (samples, targets) numbers. Collective: for each pass one
  /// all-reduce of 8 (c + c (c + 1) / 2 + 3) bytes with c = features + targets, and with weights one of 24; none if
  /// rows are replicated. Throws ValueError for numbers that are not finite, no rows or features, targets of another
  /// shape, and weights that are negative.
  LinearRegression& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static LinearRegression from_state(const ModelState& state);

 private:
  LinearRegressionOptions options_;
};

struct RidgeOptions {
  double alpha = 1;       ///< weight of |coef|^2, added to the sum of weighted squares
  bool intercept = true;  ///< without a penalty
};
/// Least squares with a penalty of squared coefficients.
class Ridge : public LinearRegressor {
 public:
  explicit Ridge(const RidgeOptions& options = {}) : LinearRegressor("Ridge"), options_(options) {}
  [[nodiscard]] const RidgeOptions& options() const { return options_; }
  /// Fits as LinearRegression, with its costs and errors; throws ValueError for a negative alpha, too.
  Ridge& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static Ridge from_state(const ModelState& state);

 private:
  RidgeOptions options_;
};

}  // namespace heatpp
