#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp {

/// What takes the place of missing numbers of a column.
enum class Impute { mean, median, most_frequent, constant };
struct SimpleImputerOptions {
  Impute strategy = Impute::mean;
  double fill_value = 0;  ///< for Impute::constant
};
/// NaN replaced by a number for each column, by scikit-learn's rules.
class SimpleImputer {
 public:
  explicit SimpleImputer(const SimpleImputerOptions& options = {}) : options_(options) {}
  [[nodiscard]] const SimpleImputerOptions& options() const { return options_; }
  /// Learns a number for each column of (samples, features) rows. Collective: one all-reduce of 24 (features + 1)
  /// bytes; for the median as nanpercentile besides, for the most frequent number, of several the least, as
  /// unique_counts for each column and two numbers. Throws ValueError for no rows or features, infinite numbers and,
  /// but with Impute::constant, columns without a number.
  SimpleImputer& fit(const DNDarray& x);
  /// The rows without NaN, in their floating dtype and cut. Local for arrays. Throws NotFittedError before fit,
  /// ValueError for another number of features.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  [[nodiscard]] DNDarray fit_transform(const DNDarray& x) { return fit(x).transform(x); }
  [[nodiscard]] const DNDarray& statistics() const;  ///< (features,), float64

 private:
  SimpleImputerOptions options_;
  std::optional<DNDarray> statistics_;
};

}  // namespace heatpp
