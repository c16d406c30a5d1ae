#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/classes.hpp>
#include <heatpp/ml/tree/decision_tree.hpp>
#include <heatpp/ml/tree/detail/boosting.hpp>
#include <heatpp/ml/tree/detail/forest.hpp>
#include <heatpp/ml/tree/random_forest.hpp>

namespace heatpp {

using namespace ml::detail;

namespace {

using Texts = std::map<std::string, std::string>;

/// Numbers that may be none are 0 then.
std::optional<std::int64_t> number_or_none(const StateReader& read, const char* name) {
  const auto number = read.option<std::int64_t>(name);
  return number > 0 ? std::optional(number) : std::nullopt;
}

Texts texts_of(const HistGradientBoostingOptions& o) {
  return {{"poisson", text_of(o.loss == BoostingLoss::poisson)},
          {"learning_rate", text_of(o.learning_rate)},
          {"max_iterations", text_of(o.max_iterations)},
          {"max_leaf_nodes", text_of(o.max_leaf_nodes.value_or(0))},
          {"max_depth", text_of(o.max_depth.value_or(0))},
          {"min_samples_leaf", text_of(o.min_samples_leaf)},
          {"l2_regularization", text_of(o.l2_regularization)},
          {"max_bins", text_of(o.max_bins)},
          {"warm_start", text_of(o.warm_start)},
          {"early_stopping", text_of(o.early_stopping)},
          {"validation_fraction", text_of(o.validation_fraction)},
          {"n_iter_no_change", text_of(o.n_iter_no_change)},
          {"tol", text_of(o.tol)},
          {"seed", text_of(o.seed)},
          {"class_weight", text_of(o.class_weight)}};
}

HistGradientBoostingOptions boosting_options(const StateReader& read) {
  return {.loss = read.option<bool>("poisson") ? BoostingLoss::poisson : BoostingLoss::squared_error,
          .learning_rate = read.option<double>("learning_rate"),
          .max_iterations = read.option<std::int64_t>("max_iterations"),
          .max_leaf_nodes = number_or_none(read, "max_leaf_nodes"),
          .max_depth = number_or_none(read, "max_depth"),
          .min_samples_leaf = read.option<std::int64_t>("min_samples_leaf"),
          .l2_regularization = read.option<double>("l2_regularization"),
          .max_bins = read.option<std::int64_t>("max_bins"),
          .warm_start = read.option<bool>("warm_start"),
          .early_stopping = read.option<bool>("early_stopping"),
          .validation_fraction = read.option<double>("validation_fraction"),
          .n_iter_no_change = read.option<std::int64_t>("n_iter_no_change"),
          .tol = read.option<double>("tol"),
          .seed = read.option<std::uint64_t>("seed"),
          .class_weight = class_weights_from(read.op(), read.text("class_weight"))};
}

ModelState boosting_state(const char* kind, const HistGradientBoostingOptions& options, const LearntBoosting& learnt) {
  ModelState state{kind, texts_of(options), {}};
  state.options.insert({"features", text_of(learnt.features)});
  state.arrays.insert({"baseline", replicated(at::tensor(learnt.baseline, at::kDouble), float64, *learnt.comm)});
  write_trees(learnt.trees, *learnt.comm, state);
  return state;
}

std::vector<double> numbers_of(const DNDarray& x) {
  const auto block = x.astype(float64).larray().contiguous();
  return {block.const_data_ptr<double>(), block.const_data_ptr<double>() + block.numel()};
}

std::shared_ptr<const LearntBoosting> read_boosting(const StateReader& read) {
  const auto baseline = read.array("baseline", {-1});
  const auto features = read.option<std::int64_t>("features");
  LearntBoosting learnt{numbers_of(baseline), read_trees(read, features), features, baseline.comm()};
  if (learnt.outputs() < 1 || learnt.trees.outputs != 1 || learnt.trees.size() % learnt.outputs() != 0)
    detail::raise<ValueError>(read.op(),
                              "got {} trees of {} values and {} baselines; expected trees of one value for each",
                              learnt.trees.size(), learnt.trees.outputs, learnt.outputs());
  return std::make_shared<const LearntBoosting>(std::move(learnt));
}

int number_of(std::optional<MaxFeatures> features) {
  if (!features) return -1;
  return *features == MaxFeatures::all ? 0 : 1;
}

MaxFeatures features_of(int number) { return number > 0 ? MaxFeatures::sqrt : MaxFeatures::all; }

Texts texts_of(const DecisionTreeOptions& o) {
  return {{"max_depth", text_of(o.max_depth.value_or(0))},
          {"min_samples_split", text_of(o.min_samples_split)},
          {"min_samples_leaf", text_of(o.min_samples_leaf)},
          {"max_features", text_of(number_of(o.max_features))},
          {"max_bins", text_of(o.max_bins)},
          {"seed", text_of(o.seed)},
          {"class_weight", text_of(o.class_weight)}};
}

DecisionTreeOptions tree_options(const StateReader& read) {
  return {.max_depth = number_or_none(read, "max_depth"),
          .min_samples_split = read.option<std::int64_t>("min_samples_split"),
          .min_samples_leaf = read.option<std::int64_t>("min_samples_leaf"),
          .max_features = features_of(read.option<int>("max_features")),
          .max_bins = read.option<std::int64_t>("max_bins"),
          .seed = read.option<std::uint64_t>("seed"),
          .class_weight = class_weights_from(read.op(), read.text("class_weight"))};
}

Texts texts_of(const RandomForestOptions& o) {
  return {{"n_estimators", text_of(o.n_estimators)},
          {"max_depth", text_of(o.max_depth.value_or(0))},
          {"min_samples_split", text_of(o.min_samples_split)},
          {"min_samples_leaf", text_of(o.min_samples_leaf)},
          {"max_features", text_of(number_of(o.max_features))},
          {"bootstrap", text_of(o.bootstrap)},
          {"warm_start", text_of(o.warm_start)},
          {"max_bins", text_of(o.max_bins)},
          {"seed", text_of(o.seed)},
          {"class_weight", text_of(o.class_weight)}};
}

RandomForestOptions forest_options(const StateReader& read) {
  const auto features = read.option<int>("max_features");
  return {.n_estimators = read.option<std::int64_t>("n_estimators"),
          .max_depth = number_or_none(read, "max_depth"),
          .min_samples_split = read.option<std::int64_t>("min_samples_split"),
          .min_samples_leaf = read.option<std::int64_t>("min_samples_leaf"),
          .max_features = features < 0 ? std::nullopt : std::optional(features_of(features)),
          .bootstrap = read.option<bool>("bootstrap"),
          .max_bins = read.option<std::int64_t>("max_bins"),
          .warm_start = read.option<bool>("warm_start"),
          .seed = read.option<std::uint64_t>("seed"),
          .class_weight = class_weights_from(read.op(), read.text("class_weight"))};
}

ModelState state_of(const char* kind, Texts options, const LearntForest& learnt) {
  ModelState state{kind, std::move(options), {}};
  state.arrays.insert({"importances", replicated(at::tensor(learnt.importances, at::kDouble), float64, *learnt.comm)});
  write_trees(learnt.trees, *learnt.comm, state);
  return state;
}

/// Of one number, or of these classes.
std::shared_ptr<const LearntForest> forest_of(const StateReader& read, std::int64_t outputs) {
  const auto importances = read.array("importances", {-1});
  LearntForest learnt{{}, numbers_of(importances), importances.comm()};
  learnt.trees = read_trees(read, learnt.features());
  if (learnt.trees.outputs != outputs || learnt.trees.size() < 1)
    detail::raise<ValueError>(read.op(), "got {} trees of {} values; expected one at least of {}", learnt.trees.size(),
                              learnt.trees.outputs, outputs);
  return std::make_shared<const LearntForest>(std::move(learnt));
}

/// The model of this class that a state describes: its options, and what `read_learnt` reads into it.
template <class Model, class Options, class Read>
Model restored(const char* kind, const ModelState& state, Options (*options)(const StateReader&), Read read_learnt) {
  const StateReader read(kind, state);
  Model model(options(read));
  read_learnt(model, read);
  return model;
}

}  // namespace

ModelState HistGradientBoostingRegressor::state() const { return boosting_state(kind(), options_, learnt("state")); }

HistGradientBoostingRegressor HistGradientBoostingRegressor::from_state(const ModelState& state) {
  const StateReader read("HistGradientBoostingRegressor", state);
  HistGradientBoostingRegressor model(boosting_options(read));
  model.learnt_ = read_boosting(read);
  if (model.learnt_->outputs() != 1)
    detail::raise<ValueError>(read.op(), "got {} baselines of a regressor; expected 1", model.learnt_->outputs());
  return model;
}

ModelState HistGradientBoostingClassifier::state() const {
  auto state = boosting_state(kind(), options_, learnt("state"));
  state.arrays.insert({"classes", classes_->values});
  return state;
}

HistGradientBoostingClassifier HistGradientBoostingClassifier::from_state(const ModelState& state) {
  const StateReader read("HistGradientBoostingClassifier", state);
  HistGradientBoostingClassifier model(boosting_options(read));
  model.learnt_ = read_boosting(read);
  const auto outputs = model.learnt_->outputs();
  model.classes_ = Classes{read.whole_numbers("classes", {outputs == 1 ? 2 : outputs}), model.learnt_->features};
  return model;
}

ModelState ForestClassifier::forest_state(Texts options) const {
  auto state = state_of(kind(), std::move(options), learnt("state"));
  state.arrays.insert({"classes", classes_->values});
  return state;
}

void ForestClassifier::read_forest(const StateReader& read) {
  const auto classes = read.whole_numbers("classes", {-1});
  learnt_ = forest_of(read, classes.size());
  classes_ = Classes{classes, learnt_->features()};
}

ModelState ForestRegressor::forest_state(Texts options) const {
  return state_of(kind(), std::move(options), learnt("state"));
}

void ForestRegressor::read_forest(const StateReader& read) { learnt_ = forest_of(read, 1); }

ModelState DecisionTreeClassifier::state() const { return forest_state(texts_of(options_)); }
ModelState DecisionTreeRegressor::state() const { return forest_state(texts_of(options_)); }
ModelState RandomForestClassifier::state() const { return forest_state(texts_of(options_)); }
ModelState RandomForestRegressor::state() const { return forest_state(texts_of(options_)); }

DecisionTreeClassifier DecisionTreeClassifier::from_state(const ModelState& state) {
  return restored<DecisionTreeClassifier>("DecisionTreeClassifier", state, tree_options,
                                          [](auto& model, const auto& read) { model.read_forest(read); });
}

DecisionTreeRegressor DecisionTreeRegressor::from_state(const ModelState& state) {
  return restored<DecisionTreeRegressor>("DecisionTreeRegressor", state, tree_options,
                                         [](auto& model, const auto& read) { model.read_forest(read); });
}

RandomForestClassifier RandomForestClassifier::from_state(const ModelState& state) {
  return restored<RandomForestClassifier>("RandomForestClassifier", state, forest_options,
                                          [](auto& model, const auto& read) { model.read_forest(read); });
}

RandomForestRegressor RandomForestRegressor::from_state(const ModelState& state) {
  return restored<RandomForestRegressor>("RandomForestRegressor", state, forest_options,
                                         [](auto& model, const auto& read) { model.read_forest(read); });
}

}  // namespace heatpp
