#include "../data.hpp"

#include <heatpp/ml/tree/decision_tree.hpp>
#include <heatpp/ml/tree/hist_gradient_boosting.hpp>
#include <heatpp/ml/tree/random_forest.hpp>

namespace {

using Catch::Contains;

/// Whether the model made from a state predicts the same, and has the same state.
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
  const ht::HistGradientBoostingOptions masked{
      .max_iterations = 5, .categorical_features = {false, true, false, true}, .early_stopping = std::nullopt};
  const auto of_mask = ht::HistGradientBoostingRegressor(masked).fit(tens, petals);
  check_again(of_mask, tens);
  const auto again = ht::HistGradientBoostingRegressor::from_state(of_mask.state());
  CHECK(again.options().categorical_features == masked.categorical_features);
  CHECK(again.options().early_stopping == std::nullopt);
  check_again(ht::DecisionTreeClassifier({.max_depth = 2}).fit(x, y), x);
  check_again(ht::DecisionTreeRegressor({.max_features = ht::MaxFeatures::sqrt}).fit(x, petals), x);
  check_again(ht::RandomForestClassifier({.n_estimators = 5}).fit(x, y), x);
  check_again(ht::RandomForestRegressor({.n_estimators = 5, .max_features = ht::MaxFeatures::sqrt}).fit(x, petals), x);
}

TEST_CASE("states whose sets of categories contradict them are refused", "[ml][boosting]") {
  const auto tens = (10 * iris()).round();
  const auto x = beside(tens), y = beside(tens.select(1, 1).remainder(2).contiguous());  // only sets split odd numbers
  const ht::HistGradientBoostingRegressor model =
      ht::HistGradientBoostingRegressor({.max_iterations = 3, .categorical_features = {1}}).fit(x, y);
  const auto without = [&](const std::string& array) {
    auto state = model.state();
    state.arrays.erase(array);
    return state;
  };
  using Model = ht::HistGradientBoostingRegressor;
  REQUIRE(model.state().arrays.contains("category_sets"));
  for (const std::string array : {"category_counts", "categories", "set_of_node", "category_sets"})
    CHECK_THROWS_WITH(Model::from_state(without(array)), Contains("got no array \"" + array + "\""));
  auto state = without("categories");
  state.arrays.erase("category_counts");
  CHECK_THROWS_WITH(Model::from_state(state), Contains("for features without any"));
  state = without("category_sets");
  state.arrays.erase("set_of_node");
  CHECK_THROWS_WITH(Model::from_state(state), Contains("thresholds for features with some"));
  state = model.state();
  state.arrays.at("category_sets") = ht::zeros({0, 4}, {.dtype = ht::int64});
  CHECK_THROWS_WITH(Model::from_state(state), Contains("that are not"));
  state = model.state();
  state.arrays.at("categories") = ht::zeros(state.arrays.at("categories").shape(), {.dtype = ht::float64});
  CHECK_THROWS_WITH(Model::from_state(state), Contains("expected different ones in increasing order"));
  state = model.state();
  state.arrays.at("category_counts") = ht::zeros({4}, {.dtype = ht::int64});
  CHECK_THROWS_WITH(Model::from_state(state), Contains("expected as many as category_counts says"));
  auto forest = ht::DecisionTreeRegressor({.max_depth = 2}).fit(x, y).state();
  forest.arrays.insert({"category_sets", ht::ones({1, 4}, {.dtype = ht::int64})});
  forest.arrays.insert({"set_of_node", ht::zeros(forest.arrays.at("features").shape(), {.dtype = ht::int64})});
  CHECK_THROWS_WITH(ht::DecisionTreeRegressor::from_state(forest), Contains("1 sets of categories"));
}

TEST_CASE("states of boosting without categories lack their arrays", "[ml][boosting]") {
  const auto x = beside(iris()), y = beside(iris().select(1, 2).contiguous());
  using Model = ht::HistGradientBoostingRegressor;
  const Model model = Model({.max_iterations = 3}).fit(x, y);
  auto state = model.state();
  for (const auto* array : {"category_counts", "categories", "set_of_node", "category_sets"})
    CHECK_FALSE(state.arrays.contains(array));
  for (const auto* option : {"loss", "quantile", "monotonic_cst", "categorical_features"}) state.options.erase(option);
  state.options.insert({"poisson", "false"});
  CHECK(same(Model::from_state(state).predict(x), gathered(model.predict(x))));
  for (const auto* wrong : {"1 x", "1 99999999999999999999", "-"}) {
    state.options.insert_or_assign("monotonic_cst", wrong);
    CHECK_THROWS_WITH(Model::from_state(state), Contains("for the option \"monotonic_cst\""));
  }
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
