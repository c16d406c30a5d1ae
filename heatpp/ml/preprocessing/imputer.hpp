#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp {

/// The number that replaces missing numbers of a column.
enum class Impute { mean, median, most_frequent, constant };
struct SimpleImputerOptions {
  Impute strategy = Impute::mean;
  double fill_value = 0;  ///< for Impute::constant
};
/// Replaces NaN by a number for each column, by the rules of scikit-learn.
class SimpleImputer {
 public:
  explicit SimpleImputer(const SimpleImputerOptions& options = {}) : options_(options) {}
  [[nodiscard]] const SimpleImputerOptions& options() const { return options_; }
  /// Finds the number for each column of (samples, features) rows; the most frequent number is the least one for ties.
  /// Collective: one all-reduce of 24 (features + 1) bytes; for the median also as nanpercentile, for the most frequent
  /// number as unique_counts for each column and two numbers. Throws ValueError for no rows or features, infinite
  /// numbers and, except with Impute::constant, columns without a number.
  SimpleImputer& fit(const DNDarray& x);
  /// Returns the rows without NaN, in their floating dtype and cut. Local for arrays. Throws NotFittedError before fit,
  /// ValueError for another number of features.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  [[nodiscard]] DNDarray fit_transform(const DNDarray& x) { return fit(x).transform(x); }
  [[nodiscard]] const DNDarray& statistics() const;  ///< (features,), float64

 private:
  SimpleImputerOptions options_;
  std::optional<DNDarray> statistics_;
};

}  // namespace heatpp
