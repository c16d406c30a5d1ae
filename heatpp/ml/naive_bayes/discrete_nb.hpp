#pragma once

#include <heatpp/ml/classifier.hpp>

namespace heatpp {

/// What naive Bayes of counts has in common: sums of features by class, in one pass and one all-reduce.
class DiscreteNB : public Classifier {
 public:
  // What was learnt, float64 on every rank. All throw NotFittedError before fit.
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
    std::optional<double> threshold;  ///< count whether a feature is larger, not what it is
  };
  /// The counts of the batch, with those of all before where there are. The classes become those of both.
  [[nodiscard]] Counts counted(const Batch& batch);
  /// Logarithms of the shares of the classes, or of equal ones.
  [[nodiscard]] static DNDarray log_prior(const Counts& counts, bool fit_prior);
  [[nodiscard]] const Counts& counts(const char* what) const;
  [[nodiscard]] const Model& model(const char* what) const;
  std::optional<Counts> counts_;
  std::optional<Model> model_;
};

struct MultinomialNBOptions {
  double alpha = 1;       ///< added to all counts
  bool fit_prior = true;  ///< false: all classes are as likely
};
/// Naive Bayes of how often each of several things was seen: numbers of 0 or more, whole or not.
class MultinomialNB : public DiscreteNB {
 public:
  explicit MultinomialNB(const MultinomialNBOptions& options = {}) : DiscreteNB("MultinomialNB"), options_(options) {}
  [[nodiscard]] const MultinomialNBOptions& options() const { return options_; }
  /// Learns from (samples, features) rows and (samples,) labels. Collective: that of `unique`, one all-reduce of 8
  /// (classes (features + 1) + 1) bytes, and with weights one of 24; none where rows are replicated. Throws ValueError
  /// for numbers that are negative or not finite, no rows, labels of another shape, weights and options out of range,
  /// TypeError for labels that are not whole numbers.
  MultinomialNB& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  /// Learns from more rows, as if all had come at once; they may lack classes, and have new ones. Costs and errors as
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
  double binarize = 0;    ///< a feature is there where it is larger
  bool fit_prior = true;  ///< false: all classes are as likely
};
/// Naive Bayes of what is there and what is not.
class BernoulliNB : public DiscreteNB {
 public:
  explicit BernoulliNB(const BernoulliNBOptions& options = {}) : DiscreteNB("BernoulliNB"), options_(options) {}
  [[nodiscard]] const BernoulliNBOptions& options() const { return options_; }
  /// Costs and errors as MultinomialNB, but that numbers may be negative.
  BernoulliNB& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  BernoulliNB& partial_fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});

 private:
  void learn(const char* what, const Rows& x, const DNDarray& y, const FitOptions& options);
  [[nodiscard]] Scores scores() const override;
  [[nodiscard]] bool knows_sparse() const override { return options_.binarize >= 0; }
  BernoulliNBOptions options_;
};

}  // namespace heatpp
