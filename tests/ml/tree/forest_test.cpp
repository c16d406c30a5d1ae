#include "../data.hpp"

#include <heatpp/ml/tree/decision_tree.hpp>
#include <heatpp/ml/tree/detail/forest.hpp>
#include <heatpp/ml/tree/random_forest.hpp>

namespace {

using Catch::Contains;

Agreement near(const at::Tensor& x, const at::Tensor& y, double tolerance = 1e-9) {
  return near_to(x.to(at::kDouble), y.to(at::kDouble), tolerance, tolerance);
}

/// Returns every fifth row, or the others.
at::Tensor fifths(const at::Tensor& x, bool others) {
  const auto fifth = at::arange(x.size(0), at::kLong).remainder(5) == 0;
  return x.index({others ? fifth.logical_not() : fifth}).contiguous();
}

}  // namespace

// Expected values are from scikit-learn 1.9.1, and do not depend on its seed.
TEST_CASE("a tree of classes is scikit-learn's for every layout and any labels", "[ml][tree]") {
  const auto label = at::tensor({-7, 40, 1'000'000'007}, at::kLong).index_select(0, species());
  const auto y = beside(label), cultivars = beside(cultivar()), w = beside(weights(178));
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(iris(), layout);
    ht::DecisionTreeClassifier model({.max_depth = 2});

    model.fit(x, y);

    CHECK(same(model.classes(), at::tensor({-7, 40, 1'000'000'007}, at::kLong)));
    CHECK(model.score(x, y) == Approx(.96));
    CHECK(
        near(rows_of(model.predict_proba(x), {0, 77, 149}),
             numbers({1, 0, 0, 0, 0.9074074074074074, 0.09259259259259259, 0, 0.021739130434782608, 0.9782608695652174})
                 .reshape({3, 3})));
    CHECK(model.predict(x).split() == (layout.split() ? std::optional(0) : std::nullopt));
    CHECK(model.depth() == 2);
    CHECK(model.leaves() == 3);
    CHECK(gathered(model.feature_importances()).sum().item<double>() == Approx(1));
  }
  for (const auto& layout : every_layout({178, 13})) {
    const auto x = distribute(wine(), layout);
    ht::DecisionTreeClassifier model({.min_samples_leaf = 3});
    model.fit(x, cultivars, {.sample_weight = w});
    CHECK(model.depth() == 4);
    CHECK(model.leaves() == 6);
    CHECK(model.score(x, cultivars) == Approx(0.9943820224719101));
    CHECK(near(gathered(model.feature_importances()),
               numbers({0, 0, 0, 0, 0.003172652975528588, 0, 0.40940490497189347, 0, 0, 0.402333868428739,
                        0.027913945516310833, 0, 0.15717462810752805})));
  }
}

TEST_CASE("a tree of numbers is scikit-learn's for every layout", "[ml][tree]") {
  const auto y = beside(diabetes_target());
  for (const auto& layout : every_layout({442, 10})) {
    const auto x = distribute(diabetes(), layout);
    ht::DecisionTreeRegressor model({.max_depth = 3});
    model.fit(x, y);
    CHECK(model.score(x, y) == Approx(0.5006720154703376));
    CHECK(model.leaves() == 8);
    CHECK(near(rows_of(model.predict(x), {0, 100, 441}),
               numbers({208.57142857142858, 208.57142857142858, 83.36904761904762})));
    CHECK(near(gathered(model.feature_importances()), numbers({0.02078003835653888, 0, 0.37584937246690475, 0, 0, 0,
                                                               0.021069918051207757, 0, 0.5823006711253487, 0})));
  }
  const auto sides = at::cat({iris().slice(1, 0, 2), iris().slice(1, 3, 4)}, 1);
  const auto petals = beside(iris().select(1, 2).contiguous()), w = beside(weights(150));
  for (const auto& layout : every_layout({150, 3})) {
    const auto x = distribute(sides, layout);
    ht::DecisionTreeRegressor model({.min_samples_leaf = 8});
    model.fit(x, petals, {.sample_weight = w});
    CHECK(model.depth() == 5);
    CHECK(model.leaves() == 14);
    CHECK(model.score(x, petals, {.sample_weight = w}) == Approx(0.9775549136118247));
    CHECK(near(rows_of(model.predict(x), {0, 60, 100, 149}),
               numbers({1.4314285714285715, 3.539285714285714, 5.228571428571429, 4.969444444444445})));
  }
}

TEST_CASE("missing numbers go to the side with the larger gain of a tree", "[ml][tree]") {
  auto holes = wine().clone();
  holes.select(1, 6).slice(0, 0, 178, 7).fill_(NAN);
  holes.select(1, 9).slice(0, 3, 178, 11).fill_(NAN);
  holes.select(1, 12).slice(0, 0, 60, 2).fill_(NAN);
  const auto y = beside(cultivar());
  for (const auto& layout : every_layout({178, 13})) {
    const auto x = distribute(holes, layout);
    ht::DecisionTreeClassifier model({.max_depth = 3});
    model.fit(x, y);
    CHECK(model.score(x, y) == Approx(0.9325842696629213));
    CHECK(near(gathered(model.feature_importances()),
               numbers({0.06974567573584581, 0, 0, 0, 0, 0, 0, 0, 0, 0.08072160914967418, 0, 0.36375406639082075,
                        0.4857786487236593})));
  }
}

TEST_CASE("trees grow until leaves are pure, also if a first split has no gain", "[ml][tree]") {
  const auto corners = at::tensor({0., 0., 0., 1., 1., 0., 1., 1.}, at::kDouble).reshape({4, 2});
  const auto odd = at::tensor({0, 1, 1, 0}, at::kLong);
  for (const auto& layout : every_layout({4, 2})) {
    const auto x = distribute(corners, layout);
    ht::DecisionTreeClassifier classes;
    ht::DecisionTreeRegressor numbers_of;
    CHECK(same(classes.fit(x, beside(odd)).predict(x), odd));
    CHECK(same(numbers_of.fit(x, beside(odd.to(at::kDouble) + 1e6)).predict(x), odd.to(at::kDouble) + 1e6));
    CHECK(numbers_of.leaves() == 4);
    CHECK(numbers_of.fit(x, ht::full({4}, 0.1)).leaves() == 1);
  }
  const auto x = beside(wine()), y = beside(cultivar());
  CHECK(ht::DecisionTreeClassifier().fit(x, y).score(x, y) == 1);
  const auto targets = beside(diabetes_target());
  CHECK(ht::DecisionTreeRegressor().fit(beside(diabetes()), targets).score(beside(diabetes()), targets) == Approx(1));
}

TEST_CASE("thresholds lie half way between the numbers of a node", "[ml][tree]") {
  const auto x = beside(numbers({0, 1, 2, 10}).unsqueeze(1));
  const auto y = beside(at::tensor({0, 1, 1, 0}, at::kLong));
  ht::DecisionTreeClassifier model;
  model.fit(x, y);
  const auto asked = numbers({0.4, 0.6, 5.9, 6.1}).unsqueeze(1);
  CHECK(same(model.predict(beside(asked)), at::tensor({0, 1, 1, 0}, at::kLong)));
}

TEST_CASE("forests are as good as scikit-learn's, and the same for every layout", "[ml][forest]") {
  const auto learn = fifths(wine(), true), judge = fifths(wine(), false);
  const auto y = beside(fifths(cultivar(), true)), truth = beside(fifths(cultivar(), false));
  std::optional<at::Tensor> first;
  for (const auto& layout : every_layout({142, 13})) {
    const auto x = distribute(learn, layout);
    ht::RandomForestClassifier model({.n_estimators = 60, .seed = 1});
    model.fit(x, y);
    CHECK(model.size() == 60);
    CHECK(model.score(beside(judge), truth) >= .97);
    const auto p = gathered(model.predict_proba(beside(judge)));
    CHECK(near(p.sum(1), at::ones({36}, at::kDouble), 1e-12));
    if (!first) first = p;
    CHECK(equals(p, *first));
    const auto importances = gathered(model.feature_importances());
    CHECK(importances.sum().item<double>() == Approx(1));
    CHECK(importances[6].item<double>() > 0.1);
    CHECK(importances[12].item<double>() > 0.1);
    CHECK(importances[7].item<double>() < 0.03);
  }
  ht::RandomForestClassifier other({.n_estimators = 60, .seed = 2});
  other.fit(beside(learn), y);
  CHECK(!at::equal(gathered(other.predict_proba(beside(judge))), *first));
}

TEST_CASE("forests of numbers are as good as scikit-learn's", "[ml][forest]") {
  const auto learn = fifths(diabetes(), true), judge = fifths(diabetes(), false);
  const auto y = beside(fifths(diabetes_target(), true)), truth = beside(fifths(diabetes_target(), false));
  std::optional<at::Tensor> first;
  for (const auto& layout : every_layout({353, 10})) {
    ht::RandomForestRegressor model({.n_estimators = 60});
    model.fit(distribute(learn, layout), y);
    const auto r2 = model.score(beside(judge), truth);
    CHECK(r2 > .41);
    CHECK(r2 < .49);
    const auto p = gathered(model.predict(beside(judge)));
    if (!first) first = p;
    CHECK(equals(p, *first));
  }
  ht::RandomForestRegressor deep(
      {.n_estimators = 10, .min_samples_leaf = 5, .max_features = ht::MaxFeatures::sqrt, .bootstrap = false});
  CHECK(deep.fit(beside(learn), y, {.sample_weight = beside(weights(353))}).score(beside(judge), truth) > 0.35);
}

TEST_CASE("how often a row is drawn has Poisson's distribution, by its position among all", "[ml][forest]") {
  constexpr std::int64_t n = 20000;
  const auto drawn = [](const ht::DNDarray& x, std::int64_t tree) {
    const auto times = ht::ml::detail::bootstrap_times(x, 7, tree);
    auto mine = at::empty({std::ssize(times)}, at::kLong);
    std::ranges::copy(times, mine.mutable_data_ptr<std::int64_t>());
    return mine;
  };
  const auto everywhere = drawn(ht::zeros({n, 1}), 3);
  for (const auto& layout : every_layout({n, 1})) {
    const auto x = distribute(at::zeros({n, 1}), layout);
    if (layout.split() == 1) continue;
    const auto first = layout.split() ? layout.offset(ht::world().rank()) : 0;
    CHECK(equals(drawn(x, 3), everywhere.slice(0, first, first + x.lshape()[0])));
  }
  CHECK(!at::equal(drawn(ht::zeros({n, 1}), 4), everywhere));
  double share = std::exp(-1.0);
  for (std::int64_t times = 0; times < 5; ++times) {
    const auto count = (everywhere == times).sum().item<double>();
    CHECK(std::abs(count - n * share) < 5 * std::sqrt(n * share * (1 - share)));
    share /= static_cast<double>(times + 1);
  }
}

TEST_CASE("float32 rows far from 0 and whole numbers make the same trees", "[ml][tree]") {
  const auto far = (iris() + 1e4).to(at::kFloat), near_0 = far.to(at::kDouble) - 1e4;
  const auto whole = (iris() * 10).round().to(at::kInt);
  const auto y = beside(species());
  for (const auto& layout : every_layout({150, 4})) {
    ht::DecisionTreeClassifier there({.max_depth = 3}), here({.max_depth = 3}), counted({.max_depth = 2});
    there.fit(distribute(far, layout), y);
    here.fit(distribute(near_0, layout), y);
    CHECK(close(there.predict_proba(distribute(far, layout)),
                gathered(here.predict_proba(distribute(near_0, layout))).to(at::kFloat), 1e-6));
    CHECK(counted.fit(distribute(whole, layout), y).score(distribute(whole, layout), y) == Approx(.96));
  }
}

TEST_CASE("forests end when any rank asks", "[ml][forest]") {
  ht::RandomForestClassifier model({.n_estimators = 40, .progress = [](const ht::FitProgress& p) {
                                      CHECK(p.total == 40);
                                      return ht::world().rank() + 1 < ht::world().size() || p.done < 8;
                                    }});
  CHECK(model.fit(beside(iris()), beside(species())).size() == 16);
}

TEST_CASE("bad input of trees is an error on all ranks", "[ml][tree]") {
  auto bad = iris();
  bad[120][2] = INFINITY;
  const auto x = beside(iris()), y = beside(species());
  ht::DecisionTreeClassifier model;
  ht::RandomForestRegressor regressor;
  CHECK_THROWS_AS(model.predict(x), ht::NotFittedError);
  CHECK_THROWS_AS(model.depth(), ht::NotFittedError);
  CHECK_THROWS_AS(regressor.predict(x), ht::NotFittedError);
  CHECK_THROWS_AS(regressor.feature_importances(), ht::NotFittedError);
  CHECK_THROWS_WITH(model.fit(beside(bad), y), Contains("got inf in row 120, column 2"));
  CHECK_THROWS_AS(model.fit(x, ht::full({150}, 0.5)), ht::TypeError);
  CHECK_THROWS_WITH(model.fit(x, ht::ones({3}, {.dtype = ht::int64})), Contains("got labels of shape (3,)"));
  CHECK_THROWS_WITH(regressor.fit(x, ht::full({150}, NAN)), Contains("targets that are not finite"));
  CHECK_THROWS_WITH(ht::DecisionTreeClassifier({.min_samples_split = 1}).fit(x, y), Contains("min_samples_split 1"));
  CHECK_THROWS_WITH(ht::RandomForestClassifier({.n_estimators = 0}).fit(x, y), Contains("got 0 trees"));
  for (const auto& of_class :
       {ht::ClassWeights(ht::ClassWeight::balanced), ht::ClassWeights(std::map<std::int64_t, double>{{0, 2}})}) {
    CHECK_THROWS_WITH(ht::DecisionTreeRegressor({.class_weight = of_class}).fit(x, y),
                      Contains("[DecisionTreeRegressor.fit] got class_weight; expected none"));
    CHECK_THROWS_WITH(ht::RandomForestRegressor({.class_weight = of_class}).fit(x, y),
                      Contains("[RandomForestRegressor.fit] got class_weight; expected none"));
  }
  model.fit(x, y);
  CHECK_THROWS_WITH(model.predict(beside(wine())), Contains("got 13 features; expected the 4"));
  CHECK(all_finite(gathered(model.predict_proba(ht::full({2, 4}, NAN)))));
}

TEST_CASE("a part of the ranks grows trees for itself", "[ml][forest]") {
  const auto group = *ht::world().split(ht::world().rank() % 2);
  const auto x = ht::from_local(iris().contiguous(), {.comm = group});
  const auto y = ht::from_local(species(), {.comm = group});
  ht::RandomForestClassifier model({.n_estimators = 5});
  CHECK(model.fit(ht::resplit(x, 0), y).score(x, y) > 0.95);
}

TEST_CASE("a forest that is continued equals one that is grown at once", "[ml][tree]") {
  const auto y = beside(species()), petals = beside(iris().select(1, 2).contiguous());
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(iris(), layout);
    ht::RandomForestClassifier whole({.n_estimators = 13});
    whole.fit(x, y);
    auto state = ht::RandomForestClassifier({.n_estimators = 5, .warm_start = true}).fit(x, y).state();
    state.options.at("n_estimators") = "13";
    auto model = ht::RandomForestClassifier::from_state(state);
    CHECK(model.fit(x, y).size() == 13);
    CHECK(near(gathered(model.predict_proba(x)), gathered(whole.predict_proba(x))));
    CHECK(near(gathered(model.feature_importances()), gathered(whole.feature_importances())));
    CHECK(model.fit(x, y).size() == 13);
    model.fit(x, beside(species() + 1));  // other classes: starts from scratch
    CHECK(same(model.classes(), at::tensor({1, 2, 3}, at::kLong)));
    state = model.state();
    state.options.at("n_estimators") = "3";
    auto fewer = ht::RandomForestClassifier::from_state(state);
    CHECK_THROWS_WITH(fewer.fit(x, beside(species() + 1)), Contains("got 3 trees to continue a fit of 13"));
  }
  const auto x = beside(iris());
  ht::RandomForestRegressor whole({.n_estimators = 10});
  whole.fit(x, petals);
  auto state = ht::RandomForestRegressor({.n_estimators = 4, .warm_start = true}).fit(x, petals).state();
  state.options.at("n_estimators") = "10";
  auto model = ht::RandomForestRegressor::from_state(state);
  model.fit(x, petals);
  CHECK(near(gathered(model.predict(x)), gathered(whole.predict(x))));
  CHECK(near(gathered(model.feature_importances()), gathered(whole.feature_importances())));
}
