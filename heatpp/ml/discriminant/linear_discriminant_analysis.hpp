#pragma once

#include <heatpp/ml/classifier.hpp>

namespace heatpp {

struct LinearDiscriminantOptions {
  std::vector<double> priors =
      {};  ///< probabilities of the classes, in increasing order; empty: their shares of the weight
  std::optional<std::int64_t> n_components = std::nullopt;  ///< of transform; nullopt: min(classes - 1, features)
  double tol = 1e-4;  ///< drops directions with a smaller spread within classes, for columns of deviation 1
};

/// Linear discriminant analysis (Fisher 1936; Rao 1948): classes are normal distributions with equal covariances, so
/// that the borders between them are planes; also finds the directions that separate their means best. Follows the svd
/// solver of scikit-learn, in float64, from products of rows about the means of their classes, so that rows far from 0
/// keep their accuracy. Each direction has a positive entry of largest absolute value.
class LinearDiscriminantAnalysis : public Classifier {
 public:
  explicit LinearDiscriminantAnalysis(const LinearDiscriminantOptions& options = {})
      : Classifier("LinearDiscriminantAnalysis"), options_(options) {}
  [[nodiscard]] const LinearDiscriminantOptions& options() const { return options_; }
  /// Fits to (samples, features) rows and (samples,) labels in two passes. Collective: that of `unique`, one all-reduce
  /// of 24 (k f + 1) bytes for k classes and f features, one of 8 (f + f (f + 1) / 2 + 3), and with weights one of 24;
  /// none if rows are replicated. Throws ValueError for numbers that are not finite, fewer than two classes, not more
  /// rows than classes, labels of another shape, rows without spread within classes, weights and options out of range,
  /// TypeError for labels that are not whole numbers.
  LinearDiscriminantAnalysis& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  /// Returns the scores of the classes, split as the rows: (samples,) for the second of two classes, (samples, classes)
  /// for more. Local for arrays. Errors as predict_proba.
  [[nodiscard]] DNDarray decision_function(const Rows& x) const;
  /// Returns coordinates along the directions that separate classes, (samples, components), split as the rows. Local
  /// for arrays. Errors as predict_proba.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  [[nodiscard]] DNDarray fit_transform(const Rows& x, const DNDarray& y, const FitOptions& options = {}) {
    return fit(x, y, options).transform(x);
  }

  // The fitted state, float64 on every rank. All throw NotFittedError before fit.
  [[nodiscard]] DNDarray coef() const;       ///< (1, features) for two classes, (classes, features) for more
  [[nodiscard]] DNDarray intercept() const;  ///< (1,) or (classes,)
  [[nodiscard]] DNDarray means() const;      ///< (classes, features)
  [[nodiscard]] DNDarray priors() const;     ///< (classes,)
  [[nodiscard]] DNDarray xbar() const;       ///< (features,): the mean of the means, weighted by the priors
  [[nodiscard]] DNDarray scalings() const;   ///< (features, directions): transform multiplies by the first columns
  [[nodiscard]] DNDarray explained_variance_ratio() const;  ///< (components,): parts of the variance between classes

  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static LinearDiscriminantAnalysis from_state(const ModelState& state);

 private:
  [[nodiscard]] Scores scores() const override;
  [[nodiscard]] bool knows_sparse() const override { return true; }
  struct Fitted {
    DNDarray coef, intercept;  ///< (classes, features) and (classes,), or the difference of two
    DNDarray means, priors, xbar, scalings, ratio;
  };
  [[nodiscard]] const Fitted& fitted_state(const char* what) const;
  LinearDiscriminantOptions options_;
  std::optional<Fitted> fitted_;
};

}  // namespace heatpp
