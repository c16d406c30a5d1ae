#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/options/tree.hpp>
#include <heatpp/ml/tree/detail/forest.hpp>

namespace heatpp {

using namespace ml::detail;

namespace {

ModelState state_of(const char* kind, Texts options, const FittedForest& fitted) {
  ModelState state{kind, std::move(options), {}};
  state.arrays.insert({"importances", replicated(at::tensor(fitted.importances, at::kDouble), float64, *fitted.comm)});
  write_trees(fitted.trees, *fitted.comm, state);
  return state;
}

/// Reads a forest for one number, or for these classes.
std::shared_ptr<const FittedForest> forest_of(const StateReader& read, std::int64_t outputs) {
  const auto importances = read.array("importances", {-1});
  FittedForest fitted{{}, numbers_from(importances), importances.comm()};
  fitted.trees = read_trees(read, fitted.features());
  if (fitted.trees.outputs != outputs || fitted.trees.size() < 1 || !fitted.trees.sets.empty())
    detail::raise<ValueError>(read.op(),
                              "got {} trees of {} values with {} sets of categories; expected at least one of {}, "
                              "without sets",
                              fitted.trees.size(), fitted.trees.outputs, fitted.trees.sets.size(), outputs);
  return std::make_shared<const FittedForest>(std::move(fitted));
}

}  // namespace

ModelState ForestClassifier::forest_state(Texts options) const {
  auto state = state_of(kind(), std::move(options), fitted_state("state"));
  state.arrays.insert({"classes", classes_->values});
  return state;
}

void ForestClassifier::read_forest(const StateReader& read) {
  const auto classes = read.whole_numbers("classes", {-1});
  fitted_ = forest_of(read, classes.size());
  classes_ = Classes{classes, fitted_->features()};
}

ModelState ForestRegressor::forest_state(Texts options) const {
  return state_of(kind(), std::move(options), fitted_state("state"));
}

void ForestRegressor::read_forest(const StateReader& read) { fitted_ = forest_of(read, 1); }

ModelState DecisionTreeClassifier::state() const { return forest_state(texts_of(options_)); }
ModelState DecisionTreeRegressor::state() const { return forest_state(texts_of(options_)); }
ModelState RandomForestClassifier::state() const { return forest_state(texts_of(options_)); }
ModelState RandomForestRegressor::state() const { return forest_state(texts_of(options_)); }

DecisionTreeClassifier DecisionTreeClassifier::from_state(const ModelState& state) {
  const StateReader read("DecisionTreeClassifier", state);
  DecisionTreeClassifier model(options_from<DecisionTreeOptions>(read));
  model.read_forest(read);
  return model;
}

DecisionTreeRegressor DecisionTreeRegressor::from_state(const ModelState& state) {
  const StateReader read("DecisionTreeRegressor", state);
  DecisionTreeRegressor model(options_from<DecisionTreeOptions>(read));
  model.read_forest(read);
  return model;
}

RandomForestClassifier RandomForestClassifier::from_state(const ModelState& state) {
  const StateReader read("RandomForestClassifier", state);
  RandomForestClassifier model(options_from<RandomForestOptions>(read));
  model.read_forest(read);
  return model;
}

RandomForestRegressor RandomForestRegressor::from_state(const ModelState& state) {
  const StateReader read("RandomForestRegressor", state);
  RandomForestRegressor model(options_from<RandomForestOptions>(read));
  model.read_forest(read);
  return model;
}

}  // namespace heatpp
