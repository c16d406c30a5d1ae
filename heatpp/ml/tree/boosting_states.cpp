#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/options/tree.hpp>
#include <heatpp/ml/tree/detail/boosting.hpp>

#include <algorithm>

namespace heatpp {

using namespace ml::detail;

namespace {

/// Returns the options; older states tell of the loss only whether it is Poisson's.
HistGradientBoostingOptions boosting_options(const StateReader& read) {
  auto options = options_from<HistGradientBoostingOptions>(
      read, {"loss", "quantile", "monotonic_cst", "categorical_features", "early_stopping"});
  if (!read.has_option("loss") && read.option<bool>("poisson")) options.loss = BoostingLoss::poisson;
  return options;
}

ModelState boosting_state(const char* kind, const HistGradientBoostingOptions& options, const FittedBoosting& fitted) {
  ModelState state{kind, texts_of(options), {}};
  state.options.insert({"features", text_of(fitted.features)});
  state.arrays.insert({"baseline", replicated(at::tensor(fitted.baseline, at::kDouble), float64, *fitted.comm)});
  write_trees(fitted.trees, *fitted.comm, state);
  if (fitted.categories.empty()) return state;
  std::vector<double> all;
  std::vector<std::int64_t> counts;
  for (const auto& categories : fitted.categories) {
    all.insert(all.end(), categories.begin(), categories.end());
    counts.push_back(std::ssize(categories));
  }
  state.arrays.insert({{"categories", replicated(at::tensor(all, at::kDouble), float64, *fitted.comm)},
                       {"category_counts", replicated(at::tensor(counts, at::kLong), int64, *fitted.comm)}});
  return state;
}

void check_rising(const StateReader& read, const std::vector<double>& categories, std::int64_t feature) {
  for (std::size_t i = 1; i < categories.size(); ++i)
    if (!(categories[i - 1] < categories[i]))
      detail::raise<ValueError>(read.op(),
                                "got categories {} and {} of feature {}; expected different ones in increasing order",
                                categories[i - 1], categories[i], feature);
}

/// Returns the categories of features; a state without categories lacks them.
Categories categories_from(const StateReader& read, std::int64_t features) {
  Categories result;
  if (!read.has_array("category_counts") && !read.has_array("categories")) return result;
  const auto counts = read.whole_numbers("category_counts", {features}).larray();
  const auto all = numbers_from(read.array("categories", {-1}));
  std::int64_t at = 0;
  for (std::int64_t j = 0; j < features; ++j) {
    const auto count = counts.const_data_ptr<std::int64_t>()[j];
    if (count < 0 || count > most_bins || count > std::ssize(all) - at)
      detail::raise<ValueError>(read.op(), "got {} categories of feature {}; expected up to {}, of {} of all", count, j,
                                most_bins, all.size());
    check_rising(read, result.emplace_back(all.begin() + at, all.begin() + at + count), j);
    at += count;
  }
  if (at != std::ssize(all))
    detail::raise<ValueError>(read.op(), "got {} categories; expected as many as category_counts says, {}", all.size(),
                              at);
  return result;
}

/// Whether nodes use sets for features with categories, and thresholds for others.
bool fits(const Trees& trees, const Categories& categories) {
  const auto any_of = [&](std::int32_t feature) {
    return !categories.empty() && !categories[static_cast<std::size_t>(feature)].empty();
  };
  return std::ranges::all_of(trees.nodes,
                             [&](const TreeNode& node) { return node.leaf() || node.by_set == any_of(node.feature); });
}

std::shared_ptr<const FittedBoosting> read_boosting(const StateReader& read) {
  const auto baseline = read.array("baseline", {-1});
  const auto features = read.option<std::int64_t>("features");
  if (features < 1) detail::raise<ValueError>(read.op(), "got {} features; expected at least one", features);
  FittedBoosting fitted{numbers_from(baseline), read_trees(read, features), features, baseline.comm(),
                        categories_from(read, features)};
  if (fitted.outputs() < 1 || fitted.trees.outputs != 1 || fitted.trees.size() % fitted.outputs() != 0)
    detail::raise<ValueError>(read.op(),
                              "got {} trees of {} values and {} baselines; expected trees of one value for each",
                              fitted.trees.size(), fitted.trees.outputs, fitted.outputs());
  if (!fits(fitted.trees, fitted.categories))
    detail::raise<ValueError>(read.op(),
                              "got sets of categories for features without any, or thresholds for features with some; "
                              "expected sets for features with categories and thresholds for others");
  return std::make_shared<const FittedBoosting>(std::move(fitted));
}

}  // namespace

ModelState HistGradientBoostingRegressor::state() const {
  return boosting_state(kind(), options_, fitted_state("state"));
}

HistGradientBoostingRegressor HistGradientBoostingRegressor::from_state(const ModelState& state) {
  const StateReader read("HistGradientBoostingRegressor", state);
  HistGradientBoostingRegressor model(boosting_options(read));
  model.fitted_ = read_boosting(read);
  if (model.fitted_->outputs() != 1)
    detail::raise<ValueError>(read.op(), "got {} baselines of a regressor; expected 1", model.fitted_->outputs());
  return model;
}

ModelState HistGradientBoostingClassifier::state() const {
  auto state = boosting_state(kind(), options_, fitted_state("state"));
  state.arrays.insert({"classes", classes_->values});
  return state;
}

HistGradientBoostingClassifier HistGradientBoostingClassifier::from_state(const ModelState& state) {
  const StateReader read("HistGradientBoostingClassifier", state);
  HistGradientBoostingClassifier model(boosting_options(read));
  model.fitted_ = read_boosting(read);
  const auto outputs = model.fitted_->outputs();
  model.classes_ = Classes{read.whole_numbers("classes", {outputs == 1 ? 2 : outputs}), model.fitted_->features};
  return model;
}

}  // namespace heatpp
