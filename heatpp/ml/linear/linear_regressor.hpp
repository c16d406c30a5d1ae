#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp {
namespace ml::detail {

/// The fitted state of a linear model, in float64.
struct FittedPlane {
  DNDarray coef, intercept;  ///< (targets, features) and (targets,)
  bool single;               ///< the target was given as (samples,)
  Dtype dtype;               ///< of results
};
class StateReader;

}  // namespace ml::detail

/// The base of linear models for numbers: predicts y as x coef + intercept, for one target of shape (samples,) or
/// several of shape (samples, targets). The fitted state is float64; results have the rows' floating dtype, on every
/// rank.
class LinearRegressor {
 public:
  /// Returns predictions for rows, (samples,) or (samples, targets), split as the rows. Local for arrays. Throws
  /// NotFittedError before fit, ValueError for another number of features.
  [[nodiscard]] DNDarray predict(const Rows& x) const;
  /// Returns the coefficient of determination, R^2 = 1 - sum (y - prediction)^2 / sum (y - mean y)^2, averaged over
  /// targets. Collective: one all-reduce of 8 (2 targets + 1) bytes and one of 8 (targets + 2), besides that of
  /// weights; none if rows are replicated. Errors as predict, and ValueError for targets of another shape.
  [[nodiscard]] double score(const Rows& x, const DNDarray& y, const FitOptions& options = {}) const;
  [[nodiscard]] DNDarray coef() const;       ///< (features,), or (targets, features)
  [[nodiscard]] DNDarray intercept() const;  ///< a number, or (targets,)

 protected:
  explicit LinearRegressor(const char* kind) : kind_(kind) {}
  [[nodiscard]] const char* kind() const { return kind_; }
  [[nodiscard]] const ml::detail::FittedPlane& fitted_state(const char* what) const;
  /// Write a model's state with these options, and read one. Errors as state and from_state.
  [[nodiscard]] ModelState plane_state(std::map<std::string, std::string> options) const;
  [[nodiscard]] static ml::detail::FittedPlane plane_from(const ml::detail::StateReader& read);
  std::optional<ml::detail::FittedPlane> fitted_;

 private:
  const char* kind_;
};

}  // namespace heatpp
