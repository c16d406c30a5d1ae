#include <heatpp/ml/tree/forest.hpp>

#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/tree.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/ml/tree/decision_tree.hpp>
#include <heatpp/ml/tree/detail/forest_fit.hpp>

#include <limits>

namespace heatpp {
namespace ml::detail {

ForestLimits limits_of(const char* op, const RandomForestOptions& o, MaxFeatures default_features,
                       std::int64_t features) {
  if (o.n_estimators < 1 || o.max_depth.value_or(1) < 1 || o.min_samples_split < 2 || o.min_samples_leaf < 1 ||
      o.max_bins < 2 || o.max_bins > most_bins)
    heatpp::detail::raise<ValueError>(
        op,
        "got {} trees, max_depth {}, min_samples_split {}, min_samples_leaf {} and {} bins; "
        "expected at least one tree, one level and one row in a leaf, min_samples_split >= 2 and 2 "
        "to 255 bins",
        o.n_estimators, o.max_depth.value_or(0), o.min_samples_split, o.min_samples_leaf, o.max_bins);
  const bool all = o.max_features.value_or(default_features) == MaxFeatures::all;
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(features)));
  return {.trees = o.n_estimators,
          .depth = o.max_depth.value_or(std::numeric_limits<std::int64_t>::max()),
          .rows_to_divide = o.min_samples_split,
          .rows_of_leaf = o.min_samples_leaf,
          .features = all ? features : std::max<std::int64_t>(1, root),
          .bootstrap = o.bootstrap,
          .max_bins = o.max_bins,
          .seed = o.seed};
}

namespace {

/// Returns the forest from which a fit continues, or null.
const FittedForest* going_on(const RandomForestOptions& forest, const FittedForest* before, const Rows& x) {
  return forest.warm_start && before && before->features() == x.features() ? before : nullptr;
}

}  // namespace

void check_classes(const char* op, std::int64_t classes) {
  if (classes > Drawn::most_classes)
    heatpp::detail::raise<ValueError>(op, "got {} classes; expected at most {}", classes, Drawn::most_classes);
}

FittedClasses fit_classes(const char* op, const Rows& x, const DNDarray& y, const FitOptions& options,
                          const RandomForestOptions& forest, const FittedForest* before,
                          const std::optional<DNDarray>& known) {
  const auto limits = limits_of(op, forest, MaxFeatures::sqrt, x.features());
  check_not_empty(op, x);
  auto classes = classes_beside(op, x, y);
  const auto count = classes.count();
  check_classes(op, count);
  const auto weights =
      class_weighted(op, x, classes, weights_beside(op, x, options.sample_weight), forest.class_weight);
  const bool same = before && known && at::equal(classes.values.to(at::kLong), known->larray());
  return {grown_forest({op, x, count, std::move(classes.index), {}, weights}, limits, forest.progress,
                       same ? going_on(forest, before, x) : nullptr),
          classes.values};
}

std::shared_ptr<const FittedForest> fit_numbers(const char* op, const Rows& x, const DNDarray& y,
                                                const FitOptions& options, const RandomForestOptions& forest,
                                                const FittedForest* before) {
  const auto limits = limits_of(op, forest, MaxFeatures::all, x.features());
  check_no_class_weights(op, forest.class_weight);
  check_not_empty(op, x);
  const auto targets = beside_rows(op, "targets", x, y);
  const auto weights = weights_beside(op, x, options.sample_weight);
  return grown_forest({op, x, 0, {}, targets, weights}, limits, forest.progress, going_on(forest, before, x));
}

}  // namespace ml::detail

namespace {

using namespace ml::detail;

/// Returns the mean of the trees' values for a block's rows, (rows, outputs).
at::Tensor mean_values(const FittedForest& fitted, const at::Tensor& block) {
  const auto outputs = fitted.trees.outputs, trees = fitted.trees.size();
  auto sums = at::zeros({block.size(0), outputs}, at::kDouble);
  auto* sum = sums.mutable_data_ptr<double>();
  with_piece(block, 0, [&](const auto& piece) {
    for (std::int64_t t = 0; t < trees; ++t)
      fitted.trees.visit(t, piece, [&](std::int64_t i, const double* value) {
        for (std::int64_t c = 0; c < outputs; ++c) sum[i * outputs + c] += value[c];
      });
  });
  return sums.div_(static_cast<double>(trees));
}

RandomForestOptions as_forest(const DecisionTreeOptions& tree) {
  RandomForestOptions forest{.n_estimators = 1, .max_features = tree.max_features, .bootstrap = false};
  heatpp::detail::copy_fields(tree, forest);
  return forest;
}

DNDarray importances_of(const FittedForest& fitted) {
  return replicated(at::tensor(fitted.importances, at::kDouble), float64, *fitted.comm);
}

}  // namespace

const FittedForest& ForestClassifier::fitted_state(const char* what) const {
  return fitted(Method(kind(), what), fitted_);
}
const FittedForest& ForestRegressor::fitted_state(const char* what) const {
  return fitted(Method(kind(), what), fitted_);
}

Classifier::Scores ForestClassifier::scores() const {
  return [forest = fitted_](const RowBlock& block) { return mean_values(*forest, block.dense()).log_(); };
}

DNDarray ForestClassifier::feature_importances() const { return importances_of(fitted_state("feature_importances")); }

DNDarray ForestRegressor::feature_importances() const { return importances_of(fitted_state("feature_importances")); }

DNDarray ForestRegressor::predicted(const char* what, const Rows& x) const {
  const auto& forest = fitted_state(what);
  check_features(Method(kind(), what), x, forest.features());
  const auto y = mapped(x, 1, [&](const at::Tensor& block) { return mean_values(forest, block); });
  return as_rows(x, y.larray().select(1, 0));
}

DecisionTreeClassifier& DecisionTreeClassifier::fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  check_agreed("DecisionTreeClassifier.fit", x, options_);
  auto fitted = fit_classes("DecisionTreeClassifier.fit", x, y, options, as_forest(options_));
  fitted_ = std::move(fitted.forest);
  classes_ = Classes{replicated(fitted.values, int64, x.comm()), x.features()};
  return *this;
}

RandomForestClassifier& RandomForestClassifier::fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  check_agreed("RandomForestClassifier.fit", x, options_);
  const auto known = classes_ ? std::optional(classes_->values) : std::nullopt;
  auto fitted = fit_classes("RandomForestClassifier.fit", x, y, options, options_, fitted_.get(), known);
  fitted_ = std::move(fitted.forest);
  classes_ = Classes{replicated(fitted.values, int64, x.comm()), x.features()};
  return *this;
}

DecisionTreeRegressor& DecisionTreeRegressor::fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  check_agreed("DecisionTreeRegressor.fit", x, options_);
  fitted_ = fit_numbers("DecisionTreeRegressor.fit", x, y, options, as_forest(options_));
  return *this;
}

RandomForestRegressor& RandomForestRegressor::fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  check_agreed("RandomForestRegressor.fit", x, options_);
  fitted_ = fit_numbers("RandomForestRegressor.fit", x, y, options, options_, fitted_.get());
  return *this;
}

std::int64_t DecisionTreeClassifier::depth() const { return fitted_state("depth").trees.depth(0); }
std::int64_t DecisionTreeClassifier::leaves() const { return fitted_state("leaves").trees.leaves(0); }
std::int64_t DecisionTreeRegressor::depth() const { return fitted_state("depth").trees.depth(0); }
std::int64_t DecisionTreeRegressor::leaves() const { return fitted_state("leaves").trees.leaves(0); }
std::int64_t RandomForestClassifier::size() const { return fitted_state("size").trees.size(); }
std::int64_t RandomForestRegressor::size() const { return fitted_state("size").trees.size(); }

}  // namespace heatpp
