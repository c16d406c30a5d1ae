#pragma once

#include <heatpp/ml/classifier.hpp>
#include <heatpp/ml/tree/tree_regressor.hpp>

#include <concepts>

namespace heatpp {
namespace ml::detail {
struct FittedBoosting;
}

/// The loss whose mean a regressor minimizes: (y - prediction)^2 / 2; for counts and rates Poisson's prediction - y
/// log(prediction); |y - prediction|, which predicts medians; or the pinball loss of a `quantile` q, q (y - prediction)
/// for a prediction below y and (1 - q) (prediction - y) above. For the last two, leaves have the exact median or
/// quantile, over all ranks, of their rows' residuals from earlier trees.
enum class BoostingLoss { squared_error, poisson, absolute_error, quantile };

/// Some of the features: their positions, or a mask with a truth value for each feature.
class FeatureChoice {
 public:
  FeatureChoice() = default;
  FeatureChoice(std::vector<std::int64_t> positions) : given_(std::move(positions)) {}
  FeatureChoice(std::vector<bool> mask) : given_(std::move(mask)) {}
  FeatureChoice(std::initializer_list<std::int64_t> positions) : given_(std::vector(positions)) {}
  template <std::same_as<bool> Truth>
  FeatureChoice(std::initializer_list<Truth> mask) : given_(std::vector<bool>(mask)) {}
  [[nodiscard]] const std::variant<std::vector<std::int64_t>, std::vector<bool>>& given() const { return given_; }
  friend bool operator==(const FeatureChoice&, const FeatureChoice&) = default;

 private:
  std::variant<std::vector<std::int64_t>, std::vector<bool>> given_;
};

struct HistGradientBoostingOptions {
  BoostingLoss loss = BoostingLoss::squared_error;  ///< for regressors; classifiers use the log loss
  std::optional<double> quantile = std::nullopt;    ///< for the quantile loss, between 0 and 1
  double learning_rate = 0.1;
  std::int64_t max_iterations = 100;                ///< trees; for more than two classes trees of each class
  std::optional<std::int64_t> max_leaf_nodes = 31;  ///< nullopt: any number
  std::optional<std::int64_t> max_depth = std::nullopt;
  std::int64_t min_samples_leaf = 20;
  double l2_regularization = 0;
  std::int64_t max_bins = 255;  ///< for the numbers of a feature; NaN has one more
  /// 1 for features with which predictions may only rise, -1 only fall, 0 for others; empty: all 0. Not for more than
  /// two classes; for two classes the prediction is the probability of the second one.
  std::vector<std::int64_t> monotonic_cst = {};
  /// The features whose numbers are names of categories, at most max_bins; any set of them may go left. Categories that
  /// are not in the fit count as missing.
  FeatureChoice categorical_features = {};
  bool warm_start = false;  ///< continue the fitted state of as many features and classes, to max_iterations
  /// Whether to end if the validation loss has not fallen for n_iter_no_change iterations; nullopt: if there are more
  /// than 10000 rows.
  std::optional<bool> early_stopping = false;
  double validation_fraction = 0.1;  ///< of rows, by their positions; 0: uses the loss of the training rows
  std::int64_t n_iter_no_change = 10;
  double tol = 1e-7;                              ///< by which the loss must fall
  std::uint64_t seed = 0;                         ///< for validation rows, and rows from which bins are made
  ClassWeights class_weight = ClassWeight::none;  ///< for classifiers; regressors refuse it
  FitCallback progress = {};                      ///< its objective is the mean loss before the iteration
};

/// Gradient boosting of trees for numbers (Friedman 2001) on histograms (Ke et al., LightGBM, 2017), by the rules
/// of scikit-learn: numbers are replaced by the numbers of at most 255 bins; each tree splits the leaf with the
/// largest gain, from the sums of the loss's derivatives in each bin. NaN is a separate value, which goes where it
/// gains more. Categories are split in the order of their derivatives. For monotonic features, splits that
/// contradict are left out, and the middle of two nodes' values bounds what lies below them. Sums are of whole
/// numbers, so that trees are equal for any number of ranks. Bins ignore weights; they are made of at most 200000
/// rows.
class HistGradientBoostingRegressor : public TreeRegressor {
 public:
  explicit HistGradientBoostingRegressor(const HistGradientBoostingOptions& options = {})
      : TreeRegressor("HistGradientBoostingRegressor"), options_(options) {}
  [[nodiscard]] const HistGradientBoostingOptions& options() const { return options_; }
  /// Fits to (samples, features) rows and (samples,) targets. Collective: for the bins one all-reduce of 8
  /// (features + 1) bytes, an exchange of up to 200000 rows and an all-gather of 2056 bytes a feature; for
  /// each tree one of 24 bytes, one of 24 cells + 8, where the cells are the bins of all features, and one
  /// of 24 cells for each further split; none if rows are replicated. For absolute errors and quantiles a
  /// tree costs eight of 2048 bytes a leaf (more and smaller ones from 257 leaves on) and one of 8 instead
  /// of that of 24; categorical features cost an all-gather of 8 (max_bins + 2) bytes each. Throws
  /// ValueError for infinite numbers, targets that are not finite or, for Poisson's loss, negative, weights
  /// and options out of range, more categories than bins, other ones with warm_start, and targets of another
  /// shape.
  HistGradientBoostingRegressor& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  [[nodiscard]] std::int64_t iterations() const;  ///< done by fit; throws NotFittedError before fit
  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static HistGradientBoostingRegressor from_state(const ModelState& state);

 private:
  [[nodiscard]] DNDarray predicted(const char* what, const Rows& x) const override;
  [[nodiscard]] const ml::detail::FittedBoosting& fitted_state(const char* what) const;
  HistGradientBoostingOptions options_;
  std::shared_ptr<const ml::detail::FittedBoosting> fitted_;
};

/// Gradient boosting for classes, any whole numbers. Scores give the probabilities: one score for two classes, and one
/// for each of more.
class HistGradientBoostingClassifier : public Classifier {
 public:
  explicit HistGradientBoostingClassifier(const HistGradientBoostingOptions& options = {})
      : Classifier("HistGradientBoostingClassifier"), options_(options) {}
  [[nodiscard]] const HistGradientBoostingOptions& options() const { return options_; }
  /// Fits as the regressor, to (samples,) labels; also communicates as `unique`, and sends no 24 bytes a tree. Throws
  /// ValueError for infinite numbers, fewer than two classes, labels of another shape, weights, options and categories
  /// as the regressor, monotonic_cst for more classes, TypeError for labels that are not whole numbers.
  HistGradientBoostingClassifier& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  /// Returns (samples,) scores of the second of two classes, or (samples, classes) of more, split as the rows. Local
  /// for arrays. Errors as predict_proba.
  [[nodiscard]] DNDarray decision_function(const Rows& x) const;
  [[nodiscard]] std::int64_t iterations() const;  ///< done by fit; throws NotFittedError before fit
  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static HistGradientBoostingClassifier from_state(const ModelState& state);

 private:
  [[nodiscard]] Scores scores() const override;
  [[nodiscard]] bool takes_missing() const override { return true; }
  [[nodiscard]] const ml::detail::FittedBoosting& fitted_state(const char* what) const;
  HistGradientBoostingOptions options_;
  std::shared_ptr<const ml::detail::FittedBoosting> fitted_;
};

}  // namespace heatpp
