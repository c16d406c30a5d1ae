#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp {

/// What regressors of trees have in common. NaN is a value that rows may have.
class TreeRegressor {
 public:
  virtual ~TreeRegressor() = default;
  /// The predictions (samples,) in the rows' floating dtype, split as these. Local for arrays. Throws NotFittedError
  /// before fit, ValueError for another number of features.
  [[nodiscard]] DNDarray predict(const Rows& x) const { return predicted("predict", x); }
  /// The coefficient of determination, as r2_score, and what that communicates. Errors as predict, and ValueError for
  /// targets of another shape.
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
