#pragma once

#include <heatpp/ml/estimator.hpp>

// Whole numbers that name things, as numbers from 0 or columns of zeros and ones, by scikit-learn's rules. What is
// learnt is the same on every rank; results are split as the rows.
namespace heatpp {

/// Labels (samples,) as numbers from 0, in the order of their values.
class LabelEncoder {
 public:
  /// Collective: finds the labels as confusion_matrix. Throws TypeError for fractions, ValueError for other shapes.
  LabelEncoder& fit(const DNDarray& y);
  /// int64 of shape (samples,), cut as `y`. Collective: one byte, to agree that all are known. Throws ValueError on all
  /// ranks for a label that is not.
  [[nodiscard]] DNDarray transform(const DNDarray& y) const;
  [[nodiscard]] DNDarray fit_transform(const DNDarray& y) { return fit(y).transform(y); }
  /// The labels of numbers from 0. Costs and errors as transform.
  [[nodiscard]] DNDarray inverse_transform(const DNDarray& numbers) const;
  [[nodiscard]] const std::vector<std::int64_t>& classes() const;  ///< in rising order

 private:
  std::optional<std::vector<std::int64_t>> classes_;
};

/// What a category that was not learnt becomes.
enum class Unknown {
  error,
  ignore  ///< zeros in all columns of its feature
};
struct OneHotEncoderOptions {
  Unknown unknown = Unknown::error;
  Dtype dtype = float64;  ///< of the columns
};
/// A column for every category of each feature of (samples, features) whole numbers: 1 where a row has it, else 0.
class OneHotEncoder {
 public:
  explicit OneHotEncoder(const OneHotEncoderOptions& options = {}) : options_(options) {}
  [[nodiscard]] const OneHotEncoderOptions& options() const { return options_; }
  /// Collective: finds the categories of each feature as confusion_matrix does labels. Throws TypeError for fractions,
  /// ValueError for no rows or features.
  OneHotEncoder& fit(const DNDarray& x);
  /// (samples, categories of all features). Collective: one byte, to agree that all are known. Throws ValueError on all
  /// ranks for an unknown category and another number of features, NotFittedError before fit.
  [[nodiscard]] DNDarray transform(const DNDarray& x) const;
  [[nodiscard]] DNDarray fit_transform(const DNDarray& x) { return fit(x).transform(x); }
  /// int64 (samples, features): the category whose column is the largest. Local.
  [[nodiscard]] DNDarray inverse_transform(const Rows& z) const;
  /// Of every feature, in rising order. Throws NotFittedError before fit.
  [[nodiscard]] const std::vector<std::vector<std::int64_t>>& categories() const;

 private:
  OneHotEncoderOptions options_;
  std::optional<std::vector<std::vector<std::int64_t>>> categories_;
};

}  // namespace heatpp
