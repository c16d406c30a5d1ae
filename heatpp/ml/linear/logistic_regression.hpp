#pragma once

#include <heatpp/ml/classifier.hpp>

namespace heatpp {

struct LogisticOptions {
  double c = 1;             ///< weight of the losses beside the penalty; infinite: no penalty
  double l1_ratio = 0;      ///< penalty: l1_ratio |coef|_1 + (1 - l1_ratio) |coef|^2 / 2; 1 gives many coefficients 0
  bool intercept = true;    ///< without a penalty
  bool warm_start = false;  ///< start from the fitted state, if its classes and features are as many
  std::int64_t max_iterations = 100;
  /// Ends if the gradient of the mean loss is at most this, for columns of mean 0 and variance 1 (less if the penalty
  /// of squares outweighs it).
  double tol = 1e-4;
  ClassWeights class_weight = ClassWeight::none;  ///< balanced counts weights of rows
  FitCallback progress = {};
};

/// Logistic regression of two classes, or of more by softmax: minimizes the penalty + c * sum of weight * loss, as in
/// scikit-learn, by L-BFGS on columns scaled to mean 0 and variance 1; with l1 by OWL-QN.
class LogisticRegression : public Classifier {
 public:
  explicit LogisticRegression(const LogisticOptions& options = {})
      : Classifier("LogisticRegression"), options_(options) {}
  [[nodiscard]] const LogisticOptions& options() const { return options_; }
  /// Fits to (samples, features) rows and (samples,) labels. Collective: that of `unique`, one all-reduce of 24
  /// (features + 1) bytes, and for each evaluation, one or two an iteration, one of 8 (k (features + 1) + 3), where k
  /// is the number of classes, 1 for two; 8 (classes + 1) for balance; none if rows are replicated. Throws ValueError
  /// for numbers that are not finite, fewer than two classes, labels of another shape, weights and options out of
  /// range, TypeError for labels that are not whole numbers.
  LogisticRegression& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  /// Returns the scores of the classes, split as the rows: (samples,) for the second of two classes, (samples, classes)
  /// for more. Local for arrays. Errors as predict_proba.
  [[nodiscard]] DNDarray decision_function(const Rows& x) const;

  // The fitted state, in the floating dtype of rows, on every rank. All throw NotFittedError before fit.
  [[nodiscard]] DNDarray coef() const;       ///< (1, features) for two classes, (classes, features) for more
  [[nodiscard]] DNDarray intercept() const;  ///< (1,) or (classes,)
  [[nodiscard]] std::int64_t iterations() const;
  [[nodiscard]] bool converged() const;  ///< false if max_iterations ended the fit, which the log warns of
  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static LogisticRegression from_state(const ModelState& state);

 private:
  [[nodiscard]] Scores scores() const override;
  [[nodiscard]] bool knows_sparse() const override { return true; }
  struct Fitted {
    DNDarray coef, intercept;  ///< float64
    Dtype dtype;
    std::int64_t iterations;
    bool converged;
  };
  [[nodiscard]] const Fitted& fitted_state(const char* what) const;
  LogisticOptions options_;
  std::optional<Fitted> fitted_;
};

}  // namespace heatpp
