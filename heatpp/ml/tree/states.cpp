#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/classes.hpp>
#include <heatpp/ml/tree/decision_tree.hpp>
#include <heatpp/ml/tree/detail/forest.hpp>
#include <heatpp/ml/tree/random_forest.hpp>

namespace heatpp {

using namespace ml::detail;

namespace {

using Texts = std::map<std::string, std::string>;

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

/// Reads a forest for one number, or for these classes.
std::shared_ptr<const LearntForest> forest_of(const StateReader& read, std::int64_t outputs) {
  const auto importances = read.array("importances", {-1});
  LearntForest learnt{{}, numbers_from(importances), importances.comm()};
  learnt.trees = read_trees(read, learnt.features());
  if (learnt.trees.outputs != outputs || learnt.trees.size() < 1 || !learnt.trees.sets.empty())
    detail::raise<ValueError>(read.op(),
                              "got {} trees of {} values with {} sets of categories; expected one at least of {}, "
                              "without sets",
                              learnt.trees.size(), learnt.trees.outputs, learnt.trees.sets.size(), outputs);
  return std::make_shared<const LearntForest>(std::move(learnt));
}

/// Returns the model of this class in a state: its options, and what `read_learnt` reads into it.
template <class Model, class Options, class Read>
Model restored(const char* kind, const ModelState& state, Options (*options)(const StateReader&), Read read_learnt) {
  const StateReader read(kind, state);
  Model model(options(read));
  read_learnt(model, read);
  return model;
}

}  // namespace

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
