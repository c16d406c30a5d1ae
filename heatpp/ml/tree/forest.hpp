#pragma once

#include <heatpp/ml/classifier.hpp>
#include <heatpp/ml/tree/tree_regressor.hpp>

namespace heatpp {
namespace ml::detail {
struct FittedForest;
class StateReader;
}  // namespace ml::detail

/// The number of features to try in a node: all, or the square root of their number, chosen at random for each node.
enum class MaxFeatures { all, sqrt };

/// The base of trees for classes: probabilities are the mean over the trees of the shares of classes among the rows of
/// the leaf. Rows may contain NaN.
class ForestClassifier : public Classifier {
 public:
  /// Returns (features,), on every rank, with sum 1: how much the splits by a feature have reduced Gini's impurity.
  /// Throws NotFittedError before fit.
  [[nodiscard]] DNDarray feature_importances() const;

 protected:
  using Classifier::Classifier;
  [[nodiscard]] Scores scores() const override;
  [[nodiscard]] bool takes_missing() const override { return true; }
  [[nodiscard]] const ml::detail::FittedForest& fitted_state(const char* what) const;
  /// Write a model's state with these options, and read one. Errors as state and from_state.
  [[nodiscard]] ModelState forest_state(std::map<std::string, std::string> options) const;
  void read_forest(const ml::detail::StateReader& read);
  std::shared_ptr<const ml::detail::FittedForest> fitted_;
};

/// The base of trees for numbers: predictions are the mean over the trees of the mean of the rows of the leaf.
class ForestRegressor : public TreeRegressor {
 public:
  /// Returns (features,), on every rank, with sum 1: how much the splits by a feature have reduced the variance. Throws
  /// NotFittedError before fit.
  [[nodiscard]] DNDarray feature_importances() const;

 protected:
  using TreeRegressor::TreeRegressor;
  [[nodiscard]] DNDarray predicted(const char* what, const Rows& x) const override;
  [[nodiscard]] const ml::detail::FittedForest& fitted_state(const char* what) const;
  [[nodiscard]] ModelState forest_state(std::map<std::string, std::string> options) const;
  void read_forest(const ml::detail::StateReader& read);
  std::shared_ptr<const ml::detail::FittedForest> fitted_;
};

}  // namespace heatpp
