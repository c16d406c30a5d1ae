#pragma once

#include <heatpp/ml/classifier.hpp>

namespace heatpp {

/// The base of naive Bayes for counts: sums of features by class, in one pass and one all-reduce.
class DiscreteNB : public Classifier {
 public:
  // The fitted state, float64 on every rank. All throw NotFittedError before fit.
  [[nodiscard]] DNDarray feature_count() const;     ///< (classes, features): weighted sums
  [[nodiscard]] DNDarray class_count() const;       ///< (classes,): weights
  [[nodiscard]] DNDarray feature_log_prob() const;  ///< (classes, features)
  [[nodiscard]] DNDarray class_log_prior() const;   ///< (classes,)

 protected:
  using Classifier::Classifier;
  struct Counts {
    DNDarray classes, features;
  };
  struct Model {
    DNDarray log_prob, log_prior;
  };
  struct Batch {
    const char* op;
    const Rows& x;
    const DNDarray& y;
    const FitOptions& options;
    std::optional<double> threshold;  ///< counts whether a feature is larger, instead of its value
  };
  /// Returns the counts of the batch and all before, if any. The classes are the union of both.
  [[nodiscard]] Counts counted(const Batch& batch);
  /// Returns logarithms of the shares of the classes, or of equal shares.
  [[nodiscard]] static DNDarray log_prior(const Counts& counts, bool fit_prior);
  [[nodiscard]] const Counts& counts(const char* what) const;
  [[nodiscard]] const Model& model(const char* what) const;
  std::optional<Counts> counts_;
  std::optional<Model> model_;
};

struct MultinomialNBOptions {
  double alpha = 1;       ///< added to all counts
  bool fit_prior = true;  ///< false: all classes have equal priors
};
/// Naive Bayes for counts of several kinds of events: numbers >= 0, whole or not.
class MultinomialNB : public DiscreteNB {
 public:
  explicit MultinomialNB(const MultinomialNBOptions& options = {}) : DiscreteNB("MultinomialNB"), options_(options) {}
  [[nodiscard]] const MultinomialNBOptions& options() const { return options_; }
  /// Fits to (samples, features) rows and (samples,) labels. Collective: that of `unique`, one all-reduce of 8 (classes
  /// (features + 1) + 1) bytes, and with weights one of 24; none if rows are replicated. Throws ValueError for numbers
  /// that are negative or not finite, no rows, labels of another shape, weights and options out of range, TypeError for
  /// labels that are not whole numbers.
  MultinomialNB& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  /// Updates the model with more rows, as if all rows came at once; classes may be missing or new. Costs and errors as
  /// fit.
  MultinomialNB& partial_fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});

 private:
  void learn(const char* what, const Rows& x, const DNDarray& y, const FitOptions& options);
  [[nodiscard]] Scores scores() const override;
  [[nodiscard]] bool knows_sparse() const override { return true; }
  MultinomialNBOptions options_;
};

struct BernoulliNBOptions {
  double alpha = 1;       ///< added to all counts
  double binarize = 0;    ///< a feature is present if it is larger
  bool fit_prior = true;  ///< false: all classes have equal priors
};
/// Naive Bayes for features that are present or absent.
class BernoulliNB : public DiscreteNB {
 public:
  explicit BernoulliNB(const BernoulliNBOptions& options = {}) : DiscreteNB("BernoulliNB"), options_(options) {}
  [[nodiscard]] const BernoulliNBOptions& options() const { return options_; }
  /// Fits with costs and errors as MultinomialNB, except that numbers may be negative.
  BernoulliNB& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  BernoulliNB& partial_fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});

 private:
  void learn(const char* what, const Rows& x, const DNDarray& y, const FitOptions& options);
  [[nodiscard]] Scores scores() const override;
  [[nodiscard]] bool knows_sparse() const override { return options_.binarize >= 0; }
  BernoulliNBOptions options_;
};

}  // namespace heatpp
