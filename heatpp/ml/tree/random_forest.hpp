#pragma once

#include <heatpp/ml/tree/forest.hpp>

namespace heatpp {

struct RandomForestOptions {
  std::int64_t n_estimators = 100;                       ///< number of trees
  std::optional<std::int64_t> max_depth = std::nullopt;  ///< nullopt: until leaves are pure
  std::int64_t min_samples_split = 2, min_samples_leaf = 1;
  std::optional<MaxFeatures> max_features = std::nullopt;  ///< nullopt: sqrt for classes, all for numbers
  bool bootstrap = true;        ///< each tree learns from rows drawn with replacement, else from all
  std::int64_t max_bins = 255;  ///< for the numbers of a feature; NaN has one more
  bool warm_start = false;      ///< keep the fitted trees, if features are as many and classes the same
  std::uint64_t seed = 0;       ///< gives the same forest for any number of ranks
  ClassWeights class_weight = ClassWeight::none;  ///< for classifiers; regressors refuse it
  FitCallback progress = {};                      ///< counts trees, of which several grow at once
};

/// A random forest for classes: many trees with random rows and features (Breiman 2001), grown eight at once as
/// DecisionTreeClassifier says. The number of times a tree draws a row has Poisson's distribution with mean 1 (Oza,
/// Russell 2001), by the row's global position.
class RandomForestClassifier : public ForestClassifier {
 public:
  explicit RandomForestClassifier(const RandomForestOptions& options = {})
      : ForestClassifier("RandomForestClassifier"), options_(options) {}
  [[nodiscard]] const RandomForestOptions& options() const { return options_; }
  /// Fits to (samples, features) rows and (samples,) labels. Communicates and throws as DecisionTreeClassifier.fit;
  /// eight trees together send the messages of one.
  RandomForestClassifier& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  [[nodiscard]] std::int64_t size() const;  ///< trees; throws NotFittedError before fit
  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static RandomForestClassifier from_state(const ModelState& state);

 private:
  RandomForestOptions options_;
};

/// A random forest for numbers.
class RandomForestRegressor : public ForestRegressor {
 public:
  explicit RandomForestRegressor(const RandomForestOptions& options = {})
      : ForestRegressor("RandomForestRegressor"), options_(options) {}
  [[nodiscard]] const RandomForestOptions& options() const { return options_; }
  /// Fits to (samples, features) rows and (samples,) targets. Communicates and throws as DecisionTreeRegressor.fit;
  /// eight trees together send the messages of one.
  RandomForestRegressor& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  [[nodiscard]] std::int64_t size() const;  ///< trees; throws NotFittedError before fit
  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static RandomForestRegressor from_state(const ModelState& state);

 private:
  RandomForestOptions options_;
};

}  // namespace heatpp
