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
  check_again(ht::DecisionTreeClassifier({.max_depth = 2}).fit(x, y), x);
  check_again(ht::DecisionTreeRegressor({.max_features = ht::MaxFeatures::sqrt}).fit(x, petals), x);
  check_again(ht::RandomForestClassifier({.n_estimators = 5}).fit(x, y), x);
  check_again(ht::RandomForestRegressor({.n_estimators = 5, .max_features = ht::MaxFeatures::sqrt}).fit(x, petals), x);
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
