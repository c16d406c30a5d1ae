#pragma once

#include <heatpp/ml/tree/forest.hpp>

namespace heatpp {

struct DecisionTreeOptions {
  std::optional<std::int64_t> max_depth = std::nullopt;  ///< nullopt: until leaves are pure
  std::int64_t min_samples_split = 2, min_samples_leaf = 1;
  MaxFeatures max_features = MaxFeatures::all;
  std::int64_t max_bins = 255;  ///< of the numbers of a feature; NaN has one more
  std::uint64_t seed = 0;       ///< of the features that are looked at, and of rows of which bins are made
  ClassWeights class_weight = ClassWeight::none;  ///< of classifiers
};

/// A tree of classes, any whole numbers (Breiman et al. 1984): each node divides its rows where that makes Gini's
/// impurity least, of several divisions as good by the lowest feature and then the lowest number. It is scikit-learn's
/// where no feature has more than 255 different numbers; of others quantiles are looked at. All nodes of a level are
/// divided at once, by sums of whole numbers, so that trees are the same on any number of ranks.
class DecisionTreeClassifier : public ForestClassifier {
 public:
  explicit DecisionTreeClassifier(const DecisionTreeOptions& options = {})
      : ForestClassifier("DecisionTreeClassifier"), options_(options) {}
  [[nodiscard]] const DecisionTreeOptions& options() const { return options_; }
  /// Learns from (samples, features) rows and (samples,) labels. Collective: that of `unique`; for the bins one
  /// all-reduce of 8 (features + 1) bytes, an exchange of up to 200000 rows and an all-gather of 2056 bytes a feature;
  /// 40 bytes for weights; 8 (classes + 1); and for each level all-reduces of 8 classes cells nodes, where the cells
  /// are the bins of the features looked at, in messages of about 16 MiB at most; none where rows are replicated.
  /// Throws ValueError for infinite numbers, labels of another shape, weights and options out of range, TypeError for
  /// labels that are not whole numbers.
  DecisionTreeClassifier& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  // Of the tree. Throw NotFittedError before fit.
  [[nodiscard]] std::int64_t depth() const;  ///< levels below the root
  [[nodiscard]] std::int64_t leaves() const;
  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static DecisionTreeClassifier from_state(const ModelState& state);

 private:
  DecisionTreeOptions options_;
};

/// The same of numbers, by the variance of targets.
class DecisionTreeRegressor : public ForestRegressor {
 public:
  explicit DecisionTreeRegressor(const DecisionTreeOptions& options = {})
      : ForestRegressor("DecisionTreeRegressor"), options_(options) {}
  [[nodiscard]] const DecisionTreeOptions& options() const { return options_; }
  /// Learns from (samples, features) rows and (samples,) targets. Collective: as the classifier with two classes but
  /// that of `unique`, and 40 bytes more for the mean of the targets. Throws ValueError for infinite numbers, targets
  /// that are not finite or of another shape, weights and options out of range.
  DecisionTreeRegressor& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  // Of the tree. Throw NotFittedError before fit.
  [[nodiscard]] std::int64_t depth() const;  ///< levels below the root
  [[nodiscard]] std::int64_t leaves() const;
  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static DecisionTreeRegressor from_state(const ModelState& state);

 private:
  DecisionTreeOptions options_;
};

}  // namespace heatpp
