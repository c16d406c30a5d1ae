#include "../data.hpp"

#include <heatpp/ml/tree/decision_tree.hpp>
#include <heatpp/ml/tree/hist_gradient_boosting.hpp>
#include <heatpp/ml/tree/random_forest.hpp>

namespace {

using Catch::Contains;

/// Whether the model that is made of a state predicts the same, and has the same state.
template <class Model>
void check_again(const Model& model, const ht::DNDarray& x) {
  const auto state = model.state();
  const auto again = Model::from_state(state);
  CHECK(same(again.predict(x), gathered(model.predict(x))));
  CHECK(again.state().options == state.options);
  CHECK(again.state().kind == state.kind);
  auto wrong = state;
  wrong.kind = "KMeans";
  CHECK_THROWS_AS(Model::from_state(wrong), ht::ValueError);
  wrong = state;
  wrong.arrays.at("children") = ht::zeros(wrong.arrays.at("children").shape(), {.dtype = ht::int64});
  CHECK_THROWS_WITH(Model::from_state(wrong), Contains("that are not"));
  wrong = state;
  wrong.arrays.erase("values");
  CHECK_THROWS_AS(Model::from_state(wrong), ht::ValueError);
  CHECK_THROWS_AS(Model().state(), ht::NotFittedError);
}

}  // namespace

TEST_CASE("trees are made again of their states", "[ml][tree]") {
  const auto x = beside(iris()), y = beside(species());
  const auto petals = beside(iris().select(1, 2).contiguous());
  check_again(ht::HistGradientBoostingClassifier({.max_iterations = 5, .max_depth = 3}).fit(x, y), x);
  check_again(
      ht::HistGradientBoostingClassifier({.max_iterations = 5, .max_leaf_nodes = {}}).fit(x, beside(species() == 1)),
      x);
  check_again(
      ht::HistGradientBoostingRegressor({.loss = ht::BoostingLoss::poisson, .max_iterations = 5}).fit(x, petals), x);
  const auto tens = beside((10 * iris()).round());
  const ht::HistGradientBoostingOptions all{.loss = ht::BoostingLoss::quantile,
                                            .quantile = 0.3,
                                            .max_iterations = 5,
                                            .monotonic_cst = {1, 0, 0, 0},
                                            .categorical_features = {1, 3}};
  check_again(ht::HistGradientBoostingRegressor(all).fit(tens, petals), tens);
  const auto read =
      ht::HistGradientBoostingRegressor::from_state(ht::HistGradientBoostingRegressor(all).fit(tens, petals).state());
  CHECK(read.options().quantile == all.quantile);
  CHECK(read.options().monotonic_cst == all.monotonic_cst);
  CHECK(read.options().categorical_features == all.categorical_features);
  check_again(ht::DecisionTreeClassifier({.max_depth = 2}).fit(x, y), x);
  check_again(ht::DecisionTreeRegressor({.max_features = ht::MaxFeatures::sqrt}).fit(x, petals), x);
  check_again(ht::RandomForestClassifier({.n_estimators = 5}).fit(x, y), x);
  check_again(ht::RandomForestRegressor({.n_estimators = 5, .max_features = ht::MaxFeatures::sqrt}).fit(x, petals), x);
}

TEST_CASE("states whose sets of categories contradict them are refused", "[ml][boosting]") {
  const auto x = beside((10 * iris()).round()), y = beside(iris().select(1, 2).contiguous());
  const ht::HistGradientBoostingRegressor model =
      ht::HistGradientBoostingRegressor({.max_iterations = 3, .categorical_features = {1}}).fit(x, y);
  const auto without = [&](const char* array) {
    auto state = model.state();
    state.arrays.erase(array);
    return state;
  };
  using Model = ht::HistGradientBoostingRegressor;
  CHECK(model.state().arrays.contains("category_sets"));
  CHECK_THROWS_WITH(Model::from_state(without("category_counts")), Contains("for features without any"));
  CHECK_THROWS_WITH(Model::from_state(without("categories")), Contains("got no array \"categories\""));
  CHECK_THROWS_WITH(Model::from_state(without("set_of_node")), Contains("got no array \"set_of_node\""));
  auto state = model.state();
  state.arrays.at("category_sets") = ht::zeros({0, 4}, {.dtype = ht::int64});
  CHECK_THROWS_WITH(Model::from_state(state), Contains("that are not"));
  auto forest = ht::DecisionTreeRegressor({.max_depth = 2}).fit(x, y).state();
  forest.arrays.insert({"category_sets", ht::ones({1, 4}, {.dtype = ht::int64})});
  forest.arrays.insert({"set_of_node", ht::zeros(forest.arrays.at("features").shape(), {.dtype = ht::int64})});
  CHECK_THROWS_WITH(ht::DecisionTreeRegressor::from_state(forest), Contains("1 sets of categories"));
}

TEST_CASE("boosting goes on from a state", "[ml][boosting]") {
  const auto x = beside(iris()), y = beside(species());
  const auto half = ht::HistGradientBoostingClassifier({.max_iterations = 4, .warm_start = true}).fit(x, y);
  auto state = half.state();
  state.options.at("max_iterations") = "8";
  auto model = ht::HistGradientBoostingClassifier::from_state(state);
  CHECK(model.fit(x, y).iterations() == 8);
  CHECK(close(model.predict_proba(x),
              gathered(ht::HistGradientBoostingClassifier({.max_iterations = 8}).fit(x, y).predict_proba(x)), 1e-9));
}
