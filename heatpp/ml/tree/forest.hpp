#pragma once

#include <heatpp/ml/classifier.hpp>
#include <heatpp/ml/tree/tree_regressor.hpp>

namespace heatpp {
namespace ml::detail {
struct LearntForest;
class StateReader;
}  // namespace ml::detail

/// How many features are looked at to divide a node: all, or the root of their number, chosen at random for each.
enum class MaxFeatures { all, sqrt };

/// What trees of classes have in common: the probabilities are the mean over the trees of the shares of classes among
/// the rows of the leaf. NaN is a value that rows may have.
class ForestClassifier : public Classifier {
 public:
  /// (features,), on every rank, of sum 1: by how much the divisions by a feature have made Gini's impurity less.
  /// Throws NotFittedError before fit.
  [[nodiscard]] DNDarray feature_importances() const;

 protected:
  using Classifier::Classifier;
  [[nodiscard]] Scores scores() const override;
  [[nodiscard]] bool takes_missing() const override { return true; }
  [[nodiscard]] const ml::detail::LearntForest& learnt(const char* what) const;
  /// The state of a model with these options, and what is read of one. Errors as state and from_state.
  [[nodiscard]] ModelState forest_state(std::map<std::string, std::string> options) const;
  void read_forest(const ml::detail::StateReader& read);
  std::shared_ptr<const ml::detail::LearntForest> learnt_;
};

/// What trees of numbers have in common: predictions are the mean over the trees of the mean of the rows of the leaf.
class ForestRegressor : public TreeRegressor {
 public:
  /// (features,), on every rank, of sum 1: by how much the divisions by a feature have made the variance less. Throws
  /// NotFittedError before fit.
  [[nodiscard]] DNDarray feature_importances() const;

 protected:
  using TreeRegressor::TreeRegressor;
  [[nodiscard]] DNDarray predicted(const char* what, const Rows& x) const override;
  [[nodiscard]] const ml::detail::LearntForest& learnt(const char* what) const;
  [[nodiscard]] ModelState forest_state(std::map<std::string, std::string> options) const;
  void read_forest(const ml::detail::StateReader& read);
  std::shared_ptr<const ml::detail::LearntForest> learnt_;
};

}  // namespace heatpp
