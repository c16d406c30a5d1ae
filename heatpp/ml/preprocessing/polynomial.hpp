#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp {

struct PolynomialFeaturesOptions {
  std::int64_t degree = 2;        ///< the largest number of factors
  bool interaction_only = false;  ///< whether the factors of a product must be different
  bool include_bias = true;       ///< a first column of ones
};
/// Products of columns, in scikit-learn's order: ones, the columns, products of two in lexicographic order, and so on.
class PolynomialFeatures {
 public:
  explicit PolynomialFeatures(const PolynomialFeaturesOptions& options = {}) : options_(options) {}
  [[nodiscard]] const PolynomialFeaturesOptions& options() const { return options_; }
  /// Stores the number of features. Local. Throws ValueError for no rows or features, a degree below 0, and more
  /// columns than 2^24.
  PolynomialFeatures& fit(const Rows& x);
  /// Returns (samples, columns), split as the rows, in their floating dtype. Local for arrays. Throws NotFittedError
  /// before fit, ValueError for another number of features.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  [[nodiscard]] DNDarray fit_transform(const Rows& x) { return fit(x).transform(x); }
  /// Returns the features of the product in each column. Throws NotFittedError before fit.
  [[nodiscard]] const std::vector<std::vector<std::int64_t>>& factors() const;

 private:
  PolynomialFeaturesOptions options_;
  std::int64_t features_ = 0;
  std::optional<std::vector<std::vector<std::int64_t>>> factors_;
  std::vector<std::int64_t> shorter_;  ///< the column of the product without its last factor; -1: none
};

}  // namespace heatpp
