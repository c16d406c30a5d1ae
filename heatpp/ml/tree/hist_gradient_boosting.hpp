#pragma once

#include <heatpp/ml/classifier.hpp>
#include <heatpp/ml/tree/tree_regressor.hpp>

namespace heatpp {
namespace ml::detail {
struct LearntBoosting;
}

/// What a regressor makes small: the mean of (y - prediction)^2 / 2; for counts and rates of Poisson's prediction - y
/// log(prediction); of |y - prediction|, so that medians are predicted; or of the pinball loss of a `quantile` q, q (y
/// - prediction) for a prediction below y and (1 - q) (prediction - y) above. By the last two leaves have the median or
/// quantile of what earlier trees leave of their rows' targets, exactly and over all ranks.
enum class BoostingLoss { squared_error, poisson, absolute_error, quantile };

struct HistGradientBoostingOptions {
  BoostingLoss loss = BoostingLoss::squared_error;  ///< of regressors; classifiers have the log loss
  std::optional<double> quantile = std::nullopt;    ///< that the quantile loss is for, between 0 and 1
  double learning_rate = 0.1;
  std::int64_t max_iterations = 100;                ///< trees, for more than two classes of each
  std::optional<std::int64_t> max_leaf_nodes = 31;  ///< nullopt: any number
  std::optional<std::int64_t> max_depth = std::nullopt;
  std::int64_t min_samples_leaf = 20;
  double l2_regularization = 0;
  std::int64_t max_bins = 255;  ///< of the numbers of a feature; NaN has one more
  /// 1 for features with which predictions may only rise, -1 only fall, 0 for others; empty: none. Not for more than
  /// two classes, of which predictions are the probabilities of the second one.
  std::vector<std::int64_t> monotonic_cst = {};
  /// The positions of features whose numbers name categories, max_bins at most, so that any set of them may go left.
  /// Those that were not learnt from count as missing.
  std::vector<std::int64_t> categorical_features = {};
  bool warm_start = false;           ///< go on from what was learnt of as many features and classes, to max_iterations
  bool early_stopping = false;       ///< end where the loss of validation rows has not fallen for n_iter_no_change
  double validation_fraction = 0.1;  ///< of rows, by their positions; 0: the loss of the rows learnt from counts
  std::int64_t n_iter_no_change = 10;
  double tol = 1e-7;                              ///< by which the loss has to fall
  std::uint64_t seed = 0;                         ///< of validation rows, and of those of which bins are made
  ClassWeights class_weight = ClassWeight::none;  ///< of classifiers
  FitCallback progress = {};                      ///< its objective is the mean loss before the iteration
};

/// Boosted trees of numbers (Friedman 2001) on histograms (Ke et al., LightGBM, 2017), by scikit-learn's rules: numbers
/// become the numbers of at most 255 bins; each tree divides the leaf that gains most, by the sums of derivatives of
/// the loss in each bin. NaN is a value of its own, which goes where it gains more. Categories are put in the order of
/// their derivatives, and divided in it. Where predictions are to rise or fall with a feature, divisions that
/// contradict are left out, and what lies below others is bounded by the middle of their values. Sums are of whole
/// numbers, so that trees are the same on any number of ranks. Bins are made of rows whatever their weights are, of
/// more than 200000 rows of as many.
class HistGradientBoostingRegressor : public TreeRegressor {
 public:
  explicit HistGradientBoostingRegressor(const HistGradientBoostingOptions& options = {})
      : TreeRegressor("HistGradientBoostingRegressor"), options_(options) {}
  [[nodiscard]] const HistGradientBoostingOptions& options() const { return options_; }
  /// Learns from (samples, features) rows and (samples,) targets. Collective: for the bins one all-reduce of 8
  /// (features
  /// + 1) bytes, an exchange of up to 200000 rows and an all-gather of 2056 bytes a feature; for each tree one of 24
  /// bytes, one of 24 cells + 8, where the cells are the bins of all features, and one of 24 cells for each further
  /// node that is divided; none where rows are replicated. For absolute errors and quantiles a tree costs eight of 2048
  /// bytes a leaf (more and smaller ones from 257 leaves on) and one of 8 instead of that of 24, features of categories
  /// an all-gather of 8 (max_bins + 2) bytes each. Throws ValueError for infinite numbers, targets that are not finite
  /// or, for Poisson's loss, negative, weights and options out of range, more categories than bins, other ones with
  /// warm_start, and targets of another shape.
  HistGradientBoostingRegressor& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  [[nodiscard]] std::int64_t iterations() const;  ///< made; throws NotFittedError before fit
  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static HistGradientBoostingRegressor from_state(const ModelState& state);

 private:
  [[nodiscard]] DNDarray predicted(const char* what, const Rows& x) const override;
  [[nodiscard]] const ml::detail::LearntBoosting& learnt(const char* what) const;
  HistGradientBoostingOptions options_;
  std::shared_ptr<const ml::detail::LearntBoosting> learnt_;
};

/// The same for classes, any whole numbers, of which the scores are what probabilities are made of: one for two
/// classes, and one for each of more.
class HistGradientBoostingClassifier : public Classifier {
 public:
  explicit HistGradientBoostingClassifier(const HistGradientBoostingOptions& options = {})
      : Classifier("HistGradientBoostingClassifier"), options_(options) {}
  [[nodiscard]] const HistGradientBoostingOptions& options() const { return options_; }
  /// As the regressor, with (samples,) labels; besides that of `unique`, and without the message of 24 bytes a tree.
  /// Throws ValueError for infinite numbers, fewer than two classes, labels of another shape, weights, options and
  /// categories as the regressor, monotonic_cst for more classes, TypeError for labels that are not whole numbers.
  HistGradientBoostingClassifier& fit(const Rows& x, const DNDarray& y, const FitOptions& options = {});
  /// (samples,) scores of the second of two classes, or (samples, classes) of more, split as the rows. Local for
  /// arrays. Errors as predict_proba.
  [[nodiscard]] DNDarray decision_function(const Rows& x) const;
  [[nodiscard]] std::int64_t iterations() const;  ///< made; throws NotFittedError before fit
  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static HistGradientBoostingClassifier from_state(const ModelState& state);

 private:
  [[nodiscard]] Scores scores() const override;
  [[nodiscard]] bool takes_missing() const override { return true; }
  [[nodiscard]] const ml::detail::LearntBoosting& learnt(const char* what) const;
  HistGradientBoostingOptions options_;
  std::shared_ptr<const ml::detail::LearntBoosting> learnt_;
};

}  // namespace heatpp
