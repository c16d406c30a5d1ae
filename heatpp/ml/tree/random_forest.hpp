#pragma once

#include <heatpp/ml/tree/forest.hpp>

namespace heatpp {

struct RandomForestOptions {
  std::int64_t n_estimators = 100;                       ///< trees
  std::optional<std::int64_t> max_depth = std::nullopt;  ///< nullopt: until leaves are pure
  std::int64_t min_samples_split = 2, min_samples_leaf = 1;
  std::optional<MaxFeatures> max_features = std::nullopt;  ///< nullopt: sqrt for classes, all for numbers
  bool bootstrap = true;        ///< each tree learns from rows drawn again and again, else from all
  std::int64_t max_bins = 255;  ///< of the numbers of a feature; NaN has one more
  bool warm_start = false;      ///< go on from the trees that were learnt of as many features and the same classes
  std::uint64_t seed = 0;       ///< the same forest for any number of ranks
  ClassWeights class_weight = ClassWeight::none;  ///< of classifiers
  FitCallback progress = {};                      ///< counts trees, of which several grow at once
};

/// Many trees of classes, each of other rows and features (Breiman 2001), grown eight at once as DecisionTreeClassifier
/// says. How often a tree draws a row has Poisson's distribution of mean 1 (Oza, Russell 2001), by the row's position
/// among all.
class RandomForestClassifier : public ForestClassifier {
 public:
  explicit RandomForestClassifier(const RandomForestOptions& options = {})
      : ForestClassifier("RandomForestClassifier"), options_(options) {}
  [[nodiscard]] const RandomForestOptions& options() const { return options_; }
  /// Learns from (samples, features) rows and (samples,) labels. Communicates and throws as DecisionTreeClassifier.fit,
  /// for eight trees together what that does for one.
  RandomForestClassifier& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  [[nodiscard]] std::int64_t size() const;  ///< trees; throws NotFittedError before fit
  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static RandomForestClassifier from_state(const ModelState& state);

 private:
  RandomForestOptions options_;
};

/// The same of numbers.
class RandomForestRegressor : public ForestRegressor {
 public:
  explicit RandomForestRegressor(const RandomForestOptions& options = {})
      : ForestRegressor("RandomForestRegressor"), options_(options) {}
  [[nodiscard]] const RandomForestOptions& options() const { return options_; }
  /// Learns from (samples, features) rows and (samples,) targets. Communicates and throws as DecisionTreeRegressor.fit,
  /// for eight trees together what that does for one.
  RandomForestRegressor& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  [[nodiscard]] std::int64_t size() const;  ///< trees; throws NotFittedError before fit
  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static RandomForestRegressor from_state(const ModelState& state);

 private:
  RandomForestOptions options_;
};

}  // namespace heatpp
