#pragma once

#include <heatpp/ml/estimator.hpp>

#include <map>
#include <variant>

namespace heatpp {
namespace ml::detail {
class RowBlock;
}

enum class ClassWeight {
  none,     ///< all classes have weight 1
  balanced  ///< all classes have the same total weight: rows / (classes * rows of the class)
};
/// Factors for the weights of rows: a rule, or a number for each label; labels that are not named have 1.
using ClassWeights = std::variant<ClassWeight, std::map<std::int64_t, double>>;

/// The base of classifiers that compute a score for each class of a row. The class with the largest score wins; the
/// softmax of the scores gives probabilities. Classes are any whole numbers, in increasing order.
class Classifier {
 public:
  virtual ~Classifier() = default;
  /// Returns the most likely class of each row, the lowest one for ties: int64 of shape (samples,), split as the rows.
  /// One all-reduce of 8 bytes to agree that all is finite; none if rows are replicated. Throws NotFittedError before
  /// fit, ValueError for another number of features, and for a row that is not finite, naming the first one.
  [[nodiscard]] DNDarray predict(const Rows& x) const;
  /// Returns the probabilities (samples, classes), split as the rows. Local for arrays. Errors as predict, except that
  /// rows that are not finite give probabilities that are not finite.
  [[nodiscard]] DNDarray predict_proba(const Rows& x) const;
  /// Returns the logarithms of the probabilities, which do not underflow.
  [[nodiscard]] DNDarray predict_log_proba(const Rows& x) const;
  /// Returns the weighted share of rows whose class is predicted correctly. Collective: one all-reduce of 24 bytes
  /// besides those of predict and of weights. Errors as predict, and for labels of another shape.
  [[nodiscard]] double score(const Rows& x, const DNDarray& y, const FitOptions& options = {}) const;
  [[nodiscard]] const DNDarray& classes() const;  ///< (classes,), int64, on every rank

 protected:
  explicit Classifier(const char* kind) : kind_(kind) {}
  Classifier(const Classifier&) = default;
  Classifier& operator=(const Classifier&) = default;
  using Scores = std::function<at::Tensor(const ml::detail::RowBlock& block)>;
  /// Returns a function that computes the scores (rows, classes) of a block of rows.
  [[nodiscard]] virtual Scores scores() const = 0;
  /// Whether the scores use a sparse matrix by its entries.
  [[nodiscard]] virtual bool knows_sparse() const { return false; }
  /// Whether rows may contain NaN.
  [[nodiscard]] virtual bool takes_missing() const { return false; }
  struct Classes {
    DNDarray values;
    std::int64_t features;
  };
  std::optional<Classes> classes_;
  [[nodiscard]] const char* kind() const { return kind_; }

 private:
  [[nodiscard]] DNDarray scored(const char* what, const Rows& x, at::Tensor (*f)(const at::Tensor& scores)) const;
  const char* kind_;
};

}  // namespace heatpp
