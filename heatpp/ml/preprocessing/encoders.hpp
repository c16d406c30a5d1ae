#pragma once

#include <heatpp/ml/estimator.hpp>

// Encodes whole numbers that stand for categories as numbers from 0 or columns of zeros and ones, by the rules of
// scikit-learn. The fitted state is equal on every rank; results are split as the rows.
namespace heatpp {

/// Encodes labels (samples,) as numbers from 0, in the order of their values.
class LabelEncoder {
 public:
  /// Finds the labels. Collective: as confusion_matrix. Throws TypeError for fractions, ValueError for other shapes.
  LabelEncoder& fit(const DNDarray& y);
  /// Returns int64 of shape (samples,), cut as `y`. Collective: one byte, to agree that all labels are known. Throws
  /// ValueError on all ranks for an unknown label.
  [[nodiscard]] DNDarray transform(const DNDarray& y) const;
  [[nodiscard]] DNDarray fit_transform(const DNDarray& y) { return fit(y).transform(y); }
  /// Returns the labels of numbers from 0. Costs and errors as transform.
  [[nodiscard]] DNDarray inverse_transform(const DNDarray& numbers) const;
  [[nodiscard]] const std::vector<std::int64_t>& classes() const;  ///< in increasing order

 private:
  std::optional<std::vector<std::int64_t>> classes_;
};

/// The treatment of categories that were not in the fit.
enum class Unknown {
  error,
  ignore  ///< zeros in all columns of its feature
};
struct OneHotEncoderOptions {
  Unknown unknown = Unknown::error;
  Dtype dtype = float64;  ///< of the result
};
/// Encodes each feature of (samples, features) whole numbers by a column for each category: 1 if a row has it, else 0.
class OneHotEncoder {
 public:
  explicit OneHotEncoder(const OneHotEncoderOptions& options = {}) : options_(options) {}
  [[nodiscard]] const OneHotEncoderOptions& options() const { return options_; }
  /// Finds the categories of each feature. Collective: as confusion_matrix finds labels. Throws TypeError for
  /// fractions, ValueError for no rows or features.
  OneHotEncoder& fit(const DNDarray& x);
  /// Returns (samples, categories of all features). Collective: one byte, to agree that all are known. Throws
  /// ValueError on all ranks for an unknown category and another number of features, NotFittedError before fit.
  [[nodiscard]] DNDarray transform(const DNDarray& x) const;
  [[nodiscard]] DNDarray fit_transform(const DNDarray& x) { return fit(x).transform(x); }
  /// Returns int64 (samples, features): the category whose column is the largest. Local.
  [[nodiscard]] DNDarray inverse_transform(const Rows& z) const;
  /// Returns the categories of every feature, in increasing order. Throws NotFittedError before fit.
  [[nodiscard]] const std::vector<std::vector<std::int64_t>>& categories() const;

 private:
  OneHotEncoderOptions options_;
  std::optional<std::vector<std::vector<std::int64_t>>> categories_;
};

}  // namespace heatpp
