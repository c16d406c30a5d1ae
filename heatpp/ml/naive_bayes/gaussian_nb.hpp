#pragma once

#include <heatpp/ml/classifier.hpp>

namespace heatpp {

struct GaussianNBOptions {
  std::vector<double> priors =
      {};  ///< probabilities of the classes, in increasing order; empty: their shares of the weight
  double var_smoothing = 1e-9;  ///< this part of the largest variance of a feature is added to all variances
};

/// Naive Bayes with normal distributions: in each class features are independent, each with its mean and variance (of
/// n, not n - 1), merged over pieces and ranks by Chan, Golub, LeVeque (1979).
class GaussianNB : public Classifier {
 public:
  explicit GaussianNB(const GaussianNBOptions& options = {}) : Classifier("GaussianNB"), options_(options) {}
  [[nodiscard]] const GaussianNBOptions& options() const { return options_; }
  /// Fits to (samples, features) rows and (samples,) labels in one pass. Collective: that of `unique`, one all-reduce
  /// of 24 (classes features + 1) bytes, and with weights one of 24; none if rows are replicated. Throws ValueError for
  /// numbers that are not finite, no rows, labels of another shape, priors of another number of classes, rows that are
  /// all equal, weights and options out of range, TypeError for labels that are not whole numbers.
  GaussianNB& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  /// Updates the model with more rows, as if all rows came at once; classes may be missing or new. Costs and errors as
  /// fit.
  GaussianNB& partial_fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});

  // The fitted state, float64 on every rank. All throw NotFittedError before fit.
  [[nodiscard]] DNDarray theta() const;        ///< (classes, features): means
  [[nodiscard]] DNDarray var() const;          ///< (classes, features): variances, with epsilon() added
  [[nodiscard]] DNDarray class_count() const;  ///< (classes,): weights
  [[nodiscard]] DNDarray class_prior() const;  ///< (classes,)
  [[nodiscard]] double epsilon() const;        ///< the number added to all variances

 private:
  [[nodiscard]] Scores scores() const override;
  struct Fitted {
    DNDarray count, theta, m2;  ///< m2: sums of weighted squares of deviations
    DNDarray var, prior;
    double epsilon;
  };
  void learn(const char* what, const Rows& x, const DNDarray& y, const FitOptions& options);
  [[nodiscard]] const Fitted& fitted_state(const char* what) const;
  GaussianNBOptions options_;
  std::optional<Fitted> fitted_;
};

}  // namespace heatpp
