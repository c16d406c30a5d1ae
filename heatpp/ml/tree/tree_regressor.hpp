#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp {

/// The base of regressors with trees. Rows may contain NaN.
class TreeRegressor {
 public:
  virtual ~TreeRegressor() = default;
  /// Returns predictions (samples,) in the rows' floating dtype, split as the rows. Local for arrays. Throws
  /// NotFittedError before fit, ValueError for another number of features.
  [[nodiscard]] DNDarray predict(const Rows& x) const { return predicted("predict", x); }
  /// Returns the coefficient of determination. Communicates as r2_score. Errors as predict, and ValueError for targets
  /// of another shape.
  [[nodiscard]] double score(const Rows& x, const DNDarray& y, const FitOptions& options = {}) const;

 protected:
  explicit TreeRegressor(const char* kind) : kind_(kind) {}
  TreeRegressor(const TreeRegressor&) = default;
  TreeRegressor& operator=(const TreeRegressor&) = default;
  [[nodiscard]] const char* kind() const { return kind_; }
  [[nodiscard]] virtual DNDarray predicted(const char* what, const Rows& x) const = 0;

 private:
  const char* kind_;
};

}  // namespace heatpp
