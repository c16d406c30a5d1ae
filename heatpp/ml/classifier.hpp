#pragma once

#include <heatpp/ml/estimator.hpp>

#include <map>
#include <variant>

namespace heatpp {
namespace ml::detail {
class RowBlock;
}

enum class ClassWeight {
  none,     ///< all classes weigh 1
  balanced  ///< all weigh as much together: rows / (classes * rows of the class)
};
/// What the weights of rows are multiplied by: a rule, or a number for each label; labels that are not named have 1.
using ClassWeights = std::variant<ClassWeight, std::map<std::int64_t, double>>;

/// What classifiers have in common that give each class of a row a number, of which the largest wins and whose softmax
/// are probabilities. Classes are whole numbers, any, in rising order.
class Classifier {
 public:
  virtual ~Classifier() = default;
  /// The class of each row, of several as likely the lowest: int64 of shape (samples,), split as the rows. One
  /// all-reduce of 8 bytes, to agree that all is finite; none where rows are replicated. Throws NotFittedError before
  /// fit, ValueError for another number of features and naming the first row that is not finite.
  [[nodiscard]] DNDarray predict(const Rows& x) const;
  /// The probabilities (samples, classes), split as the rows. Local for arrays. Errors as predict, but that
  /// probabilities of rows that are not finite are not either.
  [[nodiscard]] DNDarray predict_proba(const Rows& x) const;
  /// Their logarithms, which do not underflow.
  [[nodiscard]] DNDarray predict_log_proba(const Rows& x) const;
  /// The weighted share of rows whose class is predicted right. Collective: one all-reduce of 24 bytes besides those of
  /// predict and of weights. Errors as predict, and for labels of another shape.
  [[nodiscard]] double score(const Rows& x, const DNDarray& y, const FitOptions& options = {}) const;
  [[nodiscard]] const DNDarray& classes() const;  ///< (classes,), int64, on every rank

 protected:
  explicit Classifier(const char* kind) : kind_(kind) {}
  Classifier(const Classifier&) = default;
  Classifier& operator=(const Classifier&) = default;
  using Scores = std::function<at::Tensor(const ml::detail::RowBlock& block)>;
  /// The numbers of some rows, (rows, classes).
  [[nodiscard]] virtual Scores scores() const = 0;
  /// Whether these know rows of a sparse matrix by their entries.
  [[nodiscard]] virtual bool knows_sparse() const { return false; }
  /// Whether NaN is a value that rows may have.
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
