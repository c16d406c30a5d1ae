#pragma once

#include <heatpp/ml/tree/forest.hpp>

namespace heatpp {

struct DecisionTreeOptions {
  std::optional<std::int64_t> max_depth = std::nullopt;  ///< nullopt: until leaves are pure
  std::int64_t min_samples_split = 2, min_samples_leaf = 1;
  MaxFeatures max_features = MaxFeatures::all;
  std::int64_t max_bins = 255;                    ///< for the numbers of a feature; NaN has one more
  std::uint64_t seed = 0;                         ///< for the choice of features, and of rows from which bins are made
  ClassWeights class_weight = ClassWeight::none;  ///< for classifiers; regressors refuse it
};

/// A decision tree for classes, any whole numbers (Breiman et al. 1984): each node splits its rows to minimize Gini's
/// impurity; for ties by the lowest feature and then the lowest number. Equals scikit-learn's tree if no feature has
/// more than 255 distinct numbers; other features are split at quantiles. All nodes of a level are split at once, by
/// sums of whole numbers, so that trees are equal for any number of ranks.
class DecisionTreeClassifier : public ForestClassifier {
 public:
  explicit DecisionTreeClassifier(const DecisionTreeOptions& options = {})
      : ForestClassifier("DecisionTreeClassifier"), options_(options) {}
  [[nodiscard]] const DecisionTreeOptions& options() const { return options_; }
  /// Fits to (samples, features) rows and (samples,) labels. Collective: that of `unique`; for the bins one all-reduce
  /// of 8 (features + 1) bytes, an exchange of up to 200000 rows and an all-gather of 2056 bytes a feature; 40 bytes
  /// for weights; 8 (classes + 1); and for each level all-reduces of 8 classes cells nodes, where the cells are the
  /// bins of the features in question, in messages of at most about 16 MiB; none if rows are replicated. Throws
  /// ValueError for infinite numbers, labels of another shape, weights and options out of range, TypeError for labels
  /// that are not whole numbers.
  DecisionTreeClassifier& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  // Properties of the tree. Throw NotFittedError before fit.
  [[nodiscard]] std::int64_t depth() const;  ///< levels below the root
  [[nodiscard]] std::int64_t leaves() const;
  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static DecisionTreeClassifier from_state(const ModelState& state);

 private:
  DecisionTreeOptions options_;
};

/// A decision tree for numbers: minimizes the variance of targets.
class DecisionTreeRegressor : public ForestRegressor {
 public:
  explicit DecisionTreeRegressor(const DecisionTreeOptions& options = {})
      : ForestRegressor("DecisionTreeRegressor"), options_(options) {}
  [[nodiscard]] const DecisionTreeOptions& options() const { return options_; }
  /// Fits to (samples, features) rows and (samples,) targets. Collective: as the classifier with two classes except
  /// that of `unique`, and 40 bytes more for the mean of the targets. Throws ValueError for infinite numbers, targets
  /// that are not finite or of another shape, class_weight, weights and options out of range.
  DecisionTreeRegressor& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  // Properties of the tree. Throw NotFittedError before fit.
  [[nodiscard]] std::int64_t depth() const;  ///< levels below the root
  [[nodiscard]] std::int64_t leaves() const;
  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static DecisionTreeRegressor from_state(const ModelState& state);

 private:
  DecisionTreeOptions options_;
};

}  // namespace heatpp
