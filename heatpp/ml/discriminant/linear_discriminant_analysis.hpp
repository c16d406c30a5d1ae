#pragma once

#include <heatpp/ml/classifier.hpp>

namespace heatpp {

struct LinearDiscriminantOptions {
  std::vector<double> priors =
      {};  ///< probabilities of the classes, in rising order; empty: their shares of the weight
  std::optional<std::int64_t> n_components = std::nullopt;  ///< of transform; nullopt: min(classes - 1, features)
  double tol = 1e-4;  ///< directions in which rows spread less within classes, of columns of deviation 1, do not count
};

/// Linear discriminant analysis (Fisher 1936; Rao 1948): classes are normal distributions of one covariance, which
/// makes the borders between them planes, and the directions in which their means are farthest apart. By scikit-learn's
/// rules of its solver svd, in float64, from products of the rows about the means of their classes, so that rows far
/// from 0 lose nothing. Directions are signed so that their largest entry is positive.
class LinearDiscriminantAnalysis : public Classifier {
 public:
  explicit LinearDiscriminantAnalysis(const LinearDiscriminantOptions& options = {})
      : Classifier("LinearDiscriminantAnalysis"), options_(options) {}
  [[nodiscard]] const LinearDiscriminantOptions& options() const { return options_; }
  /// Learns from (samples, features) rows and (samples,) labels in two passes. Collective: that of `unique`, one
  /// all-reduce of 24 (k f + 1) bytes for k classes and f features, one of 8 (f + f (f + 1) / 2 + 3), and with weights
  /// one of 24; none where rows are replicated. Throws ValueError for numbers that are not finite, fewer than two
  /// classes, not more rows than classes, labels of another shape, rows that do not spread within classes, weights and
  /// options out of range, TypeError for labels that are not whole numbers.
  LinearDiscriminantAnalysis& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  /// The numbers of which probabilities are made, split as the rows: (samples,) those of the second of two classes,
  /// (samples, classes) of more. Local for arrays. Errors as predict_proba.
  [[nodiscard]] DNDarray decision_function(const Rows& x) const;
  /// The rows along the directions that tell classes apart, (samples, components), split as the rows. Local for arrays.
  /// Errors as predict_proba.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  [[nodiscard]] DNDarray fit_transform(const Rows& x, const DNDarray& y, const FitOptions& options = {}) {
    return fit(x, y, options).transform(x);
  }

  // What was learnt, float64 on every rank. All throw NotFittedError before fit.
  [[nodiscard]] DNDarray coef() const;       ///< (1, features) for two classes, (classes, features) for more
  [[nodiscard]] DNDarray intercept() const;  ///< (1,) or (classes,)
  [[nodiscard]] DNDarray means() const;      ///< (classes, features)
  [[nodiscard]] DNDarray priors() const;     ///< (classes,)
  [[nodiscard]] DNDarray xbar() const;       ///< (features,): the mean of the means, by the priors
  [[nodiscard]] DNDarray scalings() const;   ///< (features, directions): what transform multiplies the first columns of
  [[nodiscard]] DNDarray explained_variance_ratio() const;  ///< (components,): parts of the variance between classes

  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static LinearDiscriminantAnalysis from_state(const ModelState& state);

 private:
  [[nodiscard]] Scores scores() const override;
  [[nodiscard]] bool knows_sparse() const override { return true; }
  struct Learnt {
    DNDarray coef, intercept;  ///< (classes, features) and (classes,), or the difference of two
    DNDarray means, priors, xbar, scalings, ratio;
  };
  [[nodiscard]] const Learnt& learnt(const char* what) const;
  LinearDiscriminantOptions options_;
  std::optional<Learnt> learnt_;
};

}  // namespace heatpp
