#pragma once

#include <heatpp/ml/linear/linear_regressor.hpp>

namespace heatpp {

struct LinearRegressionOptions {
  bool intercept = true;  ///< false: the plane goes through 0
};
/// Ordinary least squares, and of several solutions the one of least norm: one pass, and one or two more where columns
/// are so nearly dependent that their products do not tell (condition number beyond 3000 of columns of equal length).
class LinearRegression : public LinearRegressor {
 public:
  explicit LinearRegression(const LinearRegressionOptions& options = {})
      : LinearRegressor("LinearRegression"), options_(options) {}
  [[nodiscard]] const LinearRegressionOptions& options() const { return options_; }
  /// Learns from (samples, features) rows and (samples,) or (samples, targets) numbers. Collective: for each pass one
  /// all-reduce of 8 (c + c (c + 1) / 2 + 3) bytes with c = features + targets, and with weights one of 24; none
  /// where rows are replicated. Throws ValueError for numbers that are not finite, no rows or features, targets of
  /// another shape, and weights that are negative.
  LinearRegression& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static LinearRegression from_state(const ModelState& state);

 private:
  LinearRegressionOptions options_;
};

struct RidgeOptions {
  double alpha = 1;       ///< what is made small is the sum of weighted squares + alpha |coef|^2
  bool intercept = true;  ///< not in |coef|
};
/// Least squares with small coefficients.
class Ridge : public LinearRegressor {
 public:
  explicit Ridge(const RidgeOptions& options = {}) : LinearRegressor("Ridge"), options_(options) {}
  [[nodiscard]] const RidgeOptions& options() const { return options_; }
  /// Costs and errors as LinearRegression; ValueError for a negative alpha too.
  Ridge& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static Ridge from_state(const ModelState& state);

 private:
  RidgeOptions options_;
};

}  // namespace heatpp
