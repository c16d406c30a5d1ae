#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp {
namespace ml::detail {

/// What a linear model has learnt, in float64.
struct LearntPlane {
  DNDarray coef, intercept;  ///< (targets, features) and (targets,)
  bool single;               ///< the target was given as (samples,)
  Dtype dtype;               ///< in which it is given
};
class StateReader;

}  // namespace ml::detail

/// What linear models of numbers have in common: y is predicted as x coef + intercept, for one target of shape
/// (samples,) or several of shape (samples, targets). What was learnt is kept in float64 and given in the rows'
/// floating dtype, on every rank.
class LinearRegressor {
 public:
  /// The predictions for rows, (samples,) or (samples, targets), split as the rows. Local for arrays. Throws
  /// NotFittedError before fit, ValueError for another number of features.
  [[nodiscard]] DNDarray predict(const Rows& x) const;
  /// The coefficient of determination, R^2 = 1 - sum (y - prediction)^2 / sum (y - mean y)^2, its mean over targets.
  /// Collective: one all-reduce of 8 (2 targets + 1) bytes and one of 8 (targets + 2), besides that of weights; none
  /// where rows are replicated. Errors as predict, and ValueError for targets of another shape.
  [[nodiscard]] double score(const Rows& x, const DNDarray& y, const FitOptions& options = {}) const;
  [[nodiscard]] DNDarray coef() const;       ///< (features,), or (targets, features)
  [[nodiscard]] DNDarray intercept() const;  ///< a number, or (targets,)

 protected:
  explicit LinearRegressor(const char* kind) : kind_(kind) {}
  [[nodiscard]] const char* kind() const { return kind_; }
  [[nodiscard]] const ml::detail::LearntPlane& learnt(const char* what) const;
  /// The state of a model with these options, and what is read of it. Errors as state and from_state.
  [[nodiscard]] ModelState plane_state(std::map<std::string, std::string> options) const;
  [[nodiscard]] static ml::detail::LearntPlane plane_from(const ml::detail::StateReader& read);
  std::optional<ml::detail::LearntPlane> learnt_;

 private:
  const char* kind_;
};

}  // namespace heatpp
