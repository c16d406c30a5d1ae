#include "../data.hpp"

#include <heatpp/ml/tree/decision_tree.hpp>
#include <heatpp/ml/tree/hist_gradient_boosting.hpp>
#include <heatpp/ml/tree/random_forest.hpp>

namespace {

using Catch::Contains;

/// All features except the third, which is the target.
at::Tensor sides() { return at::cat({iris().slice(1, 0, 2), iris().slice(1, 3, 4)}, 1); }
/// Wines with some missing numbers.
at::Tensor wine_with_holes() {
  auto x = wine().clone();
  x.select(1, 6).slice(0, 0, 178, 7).fill_(NAN);
  x.select(1, 9).slice(0, 3, 178, 11).fill_(NAN);
  x.select(1, 12).slice(0, 0, 60, 2).fill_(NAN);
  return x;
}

Agreement boosted_near(const at::Tensor& x, const at::Tensor& y, double tolerance = 1e-6) {
  return near_to(x.to(at::kDouble), y.to(at::kDouble), tolerance, tolerance);
}

}  // namespace

// Expected values are from scikit-learn 1.9.1, which sums gradients in float32.
TEST_CASE("boosted regression is scikit-learn's for every layout", "[ml][boosting]") {
  const auto y = beside(petals()), w = beside(weights(150));
  for (const auto& layout : every_layout({150, 3})) {
    const auto x = distribute(sides(), layout);
    ht::HistGradientBoostingRegressor model({.max_iterations = 50});

    model.fit(x, y);

    const auto p = model.predict(x);
    CHECK(p.shape() == ht::Shape{150});
    CHECK(p.split() == (layout.split() ? std::optional(0) : std::nullopt));
    CHECK(boosted_near(rows_of(p, {0, 50, 100, 149}),
                       numbers({1.4475681809462422, 4.9008955982665405, 5.250909682679491, 5.004532455835556})));
    CHECK(model.score(x, y) == Approx(.9787825849633409).epsilon(1e-7));
    CHECK(model.iterations() == 50);

    ht::HistGradientBoostingRegressor weighted({.learning_rate = 0.2,
                                                .max_iterations = 50,
                                                .max_leaf_nodes = 8,
                                                .min_samples_leaf = 5,
                                                .l2_regularization = 2});
    weighted.fit(x, y, {.sample_weight = w});
    CHECK(boosted_near(rows_of(weighted.predict(x), {0, 50, 100, 149}),
                       numbers({1.4188028033521425, 4.651220923898505, 5.60913970793608, 4.9737649070586745})));
    CHECK(weighted.score(x, y, {.sample_weight = w}) == Approx(.9935662881280694).epsilon(1e-7));

    ht::HistGradientBoostingRegressor poisson(
        {.loss = ht::BoostingLoss::poisson, .max_iterations = 30, .max_depth = 3});
    poisson.fit(x, y);
    CHECK(boosted_near(rows_of(poisson.predict(x), {0, 50, 100, 149}),
                       numbers({1.5620967915654247, 4.835218343117347, 5.173263534089479, 4.999135703243359})));
  }
}

TEST_CASE("boosted classes are scikit-learn's for every layout and any labels", "[ml][boosting]") {
  const auto label = at::tensor({-7, 40, 1'000'000'007}, at::kLong).index_select(0, cultivar());
  const auto y = beside(label), second = beside(cultivar() == 1), w = beside(weights(178));
  for (const auto& layout : every_layout({178, 13})) {
    const auto x = distribute(wine(), layout);
    ht::HistGradientBoostingClassifier model({.max_iterations = 30});

    model.fit(x, y);

    CHECK(same(model.classes(), at::tensor({-7, 40, 1'000'000'007}, at::kLong)));
    CHECK(model.score(x, y) == 1);
    CHECK(boosted_near(rows_of(model.predict_proba(x), {0, 59, 177}),
                       numbers({0.9979348713663935, 0.0011089671039607358, 0.0009561615296458318, 0.0006869287494968231,
                                0.9631582695650287, 0.03615480168547441, 0.0011467987290828135, 0.0013663155896642058,
                                0.997486885681253})
                           .reshape({3, 3})));
    CHECK(boosted_near(rows_of(model.decision_function(x), {59}),
                       numbers({-3.2088447698643146, 4.036897683625681, 0.7544897012882483}).unsqueeze(0)));

    ht::HistGradientBoostingClassifier two({.max_iterations = 30, .max_leaf_nodes = 5});
    two.fit(x, second, {.sample_weight = w});
    CHECK(boosted_near(rows_of(two.decision_function(x), {0, 59, 60, 177}),
                       numbers({-3.5193824866649406, 3.5518063177470682, 3.492228623698876, -3.9116429182935035})));

    ht::HistGradientBoostingClassifier few_bins({.max_iterations = 20, .max_bins = 8});
    few_bins.fit(x, second);
    CHECK(boosted_near(rows_of(few_bins.decision_function(x), {0, 59, 60, 177}),
                       numbers({-2.5263007164621687, 2.130574916794216, 1.3380811652718019, -2.0134994085930185})));
  }
}

TEST_CASE("missing numbers go to the side with the larger gain of boosted trees", "[ml][boosting]") {
  const auto y = beside(cultivar() == 1);
  for (const auto& layout : every_layout({178, 13})) {
    const auto x = distribute(wine_with_holes(), layout);
    ht::HistGradientBoostingClassifier model({.max_iterations = 20, .max_leaf_nodes = 3, .min_samples_leaf = 10});
    model.fit(x, y);
    const auto p = model.predict_proba(x);
    CHECK(boosted_near(rows_of(p, {0, 59, 60, 177}).select(1, 1),
                       numbers({0.07876544414198627, 0.7864959297752083, 0.8951712764331112, 0.07876544414198627})));
    CHECK(boosted_near(gathered(model.predict_proba(ht::full({2, 13}, NAN, {.dtype = ht::float64}))).select(1, 1),
                       numbers({0.07667746373082888, 0.07667746373082888})));
    CHECK(same(model.predict(x), (gathered(p).select(1, 1) > 0.5).to(at::kLong)));
  }
}

TEST_CASE("boosted trees have the same bits on any number of ranks", "[ml][boosting]") {
  const auto generator = at::detail::createCPUGenerator(3);
  const auto x = at::randn({4000, 6}, generator, at::kFloat);
  const auto y = (x.select(1, 0) * x.select(1, 1) + 0.3 * at::randn({4000}, generator, at::kFloat)).to(at::kDouble);
  const auto targets = beside(y);
  const auto alone = ht::HistGradientBoostingRegressor({.max_iterations = 20})
                         .fit(distribute(x, ht::Layout({4000, 6}, std::nullopt, ht::world().size())), targets);
  const auto expected = gathered(alone.predict(beside(x)));
  CHECK(ht::HistGradientBoostingRegressor(alone).score(beside(x), targets) > 0.8);
  for (const auto& layout : every_layout({4000, 6})) {
    ht::HistGradientBoostingRegressor model({.max_iterations = 20});
    model.fit(distribute(x, layout), targets);
    CHECK(same(model.predict(distribute(x, layout)), expected));
  }
}

TEST_CASE("float32 rows far from 0 and whole numbers are boosted as others", "[ml][boosting]") {
  const auto far = (iris() + 1e4).to(at::kFloat), near_0 = far.to(at::kDouble) - 1e4;
  const auto whole = (iris() * 10).round().to(at::kInt);
  const auto y = beside(species());
  for (const auto& layout : every_layout({150, 4})) {
    ht::HistGradientBoostingClassifier there({.max_iterations = 10}), here({.max_iterations = 10}),
        counted({.max_iterations = 10}), tenths({.max_iterations = 10});
    there.fit(distribute(far, layout), y);
    here.fit(distribute(near_0, layout), y);
    CHECK(there.predict_proba(distribute(far, layout)).dtype() == ht::float32);
    CHECK(close(there.predict_proba(distribute(far, layout)),
                gathered(here.predict_proba(distribute(near_0, layout))).to(at::kFloat), 1e-6));
    counted.fit(distribute(whole, layout), y);
    tenths.fit(distribute(whole.to(at::kDouble), layout), y);
    CHECK(counted.score(distribute(whole, layout), y) > 0.95);
    CHECK(same(counted.predict_proba(distribute(whole, layout)),
               gathered(tenths.predict_proba(distribute(whole.to(at::kDouble), layout)))));
  }
}

TEST_CASE("an outlier among targets does not blur the others", "[ml][boosting]") {
  const auto x = at::arange(200, at::kDouble).unsqueeze(1);
  auto y = (x.select(1, 0) >= 100).to(at::kDouble);
  y[199] = 1e9;
  ht::HistGradientBoostingRegressor model({.learning_rate = 1, .max_iterations = 3, .min_samples_leaf = 1});
  model.fit(beside(x), beside(y));
  const auto p = gathered(model.predict(beside(x)));
  CHECK(boosted_near(p.slice(0, 0, 100), at::zeros({100}, at::kDouble), 1e-4));
  CHECK(boosted_near(p.slice(0, 100, 199), at::ones({99}, at::kDouble), 1e-4));
  CHECK(p[199].item<double>() == Approx(1e9));
}

TEST_CASE("boosting continues from the fitted state, and ends if any rank asks", "[ml][boosting]") {
  const auto x = beside(sides()), y = beside(petals());
  ht::HistGradientBoostingRegressor whole({.max_iterations = 20}), half({.max_iterations = 10});
  whole.fit(x, y);
  half.fit(x, y);
  ht::HistGradientBoostingRegressor model({.max_iterations = 10, .warm_start = true});
  CHECK(same(model.fit(x, y).predict(x), gathered(half.predict(x))));
  CHECK(model.fit(x, y).iterations() == 10);

  std::vector<double> losses;
  ht::HistGradientBoostingRegressor ended({.progress = [&](const ht::FitProgress& p) {
    losses.push_back(p.objective);
    CHECK(p.total == 100);
    return ht::world().rank() + 1 < ht::world().size() || p.done < 3;
  }});
  CHECK(ended.fit(x, y).iterations() == 3);
  CHECK(losses.size() == 3);
  CHECK(losses[0] == Approx(petals().var(false).item<double>() / 2));
  CHECK(losses[2] < losses[1]);
}

TEST_CASE("boosting ends if the validation loss no longer falls", "[ml][boosting]") {
  const auto generator = at::detail::createCPUGenerator(5);
  const auto x = at::randn({1000, 3}, generator, at::kDouble);
  const auto y = x.select(1, 0) + 2 * at::randn({1000}, generator, at::kDouble);
  std::int64_t iterations = 0;
  for (const auto& layout : every_layout({1000, 3})) {
    ht::HistGradientBoostingRegressor model({.early_stopping = true, .n_iter_no_change = 3});
    model.fit(distribute(x, layout), beside(y));
    CHECK(model.iterations() < 60);
    CHECK(model.iterations() >= 3);
    CHECK((iterations == 0 || model.iterations() == iterations));
    iterations = model.iterations();
  }
  ht::HistGradientBoostingRegressor of_training(
      {.max_iterations = 30, .early_stopping = true, .validation_fraction = 0});
  CHECK(of_training.fit(beside(x), beside(y)).iterations() == 30);
}

TEST_CASE("boosting may end early by itself from 10001 rows on", "[ml][boosting]") {
  const auto iterations = [](std::int64_t n, std::optional<bool> early) {
    const auto y = at::arange(n, at::kDouble);
    ht::HistGradientBoostingRegressor model(
        {.max_iterations = 5, .max_leaf_nodes = 2, .early_stopping = early, .n_iter_no_change = 1, .tol = 1e12});
    return model.fit(beside(y.unsqueeze(1)), beside(y)).iterations();
  };
  CHECK(iterations(10'000, std::nullopt) == 5);
  CHECK(iterations(10'001, std::nullopt) == 1);
  CHECK(iterations(10'000, true) == 1);
  CHECK(iterations(10'001, false) == 5);
}

TEST_CASE("bad input of boosting is an error on all ranks", "[ml][boosting]") {
  auto bad = iris();
  bad[120][2] = INFINITY;
  const auto x = beside(iris()), y = beside(species());
  ht::HistGradientBoostingClassifier model;
  ht::HistGradientBoostingRegressor regressor;
  CHECK_THROWS_AS(model.predict(x), ht::NotFittedError);
  CHECK_THROWS_AS(regressor.predict(x), ht::NotFittedError);
  CHECK_THROWS_WITH(model.fit(beside(bad), y), Contains("got inf in row 120, column 2"));
  CHECK_THROWS_WITH(model.fit(x, ht::ones({150}, {.dtype = ht::int64})), Contains("got labels of 1 class"));
  CHECK_THROWS_AS(model.fit(x, ht::full({150}, 0.5)), ht::TypeError);
  CHECK_THROWS_WITH(model.fit(x, ht::ones({3}, {.dtype = ht::int64})), Contains("got labels of shape (3,)"));
  CHECK_THROWS_WITH(regressor.fit(x, ht::ones({3})), Contains("got targets of shape (3,)"));
  CHECK_THROWS_WITH(regressor.fit(x, ht::full({150}, NAN)), Contains("targets that are not finite"));
  CHECK_THROWS_WITH(ht::HistGradientBoostingRegressor({.loss = ht::BoostingLoss::poisson}).fit(x, beside(petals() - 3)),
                    Contains("got a target of -2 with Poisson's loss"));
  CHECK_THROWS_WITH(ht::HistGradientBoostingClassifier({.loss = ht::BoostingLoss::poisson}).fit(x, y),
                    Contains("got a loss of regressors"));
  CHECK_THROWS_WITH(ht::HistGradientBoostingRegressor({.class_weight = ht::ClassWeight::balanced}).fit(x, y),
                    Contains("got class_weight"));
  CHECK_THROWS_WITH(ht::HistGradientBoostingClassifier({.max_bins = 256}).fit(x, y), Contains("256 bins"));
  CHECK_THROWS_WITH(ht::HistGradientBoostingClassifier({.learning_rate = 0}).fit(x, y), Contains("learning_rate 0"));
  CHECK_THROWS_WITH(ht::HistGradientBoostingClassifier({.tol = -1}).fit(x, y), Contains("tol -1"));
  CHECK_THROWS_WITH(model.fit(x, y, {.sample_weight = ht::zeros({150})}), Contains("weights"));
  model.fit(x, y);
  CHECK_THROWS_WITH(model.predict(beside(wine())), Contains("got 13 features; expected the 4"));
}

TEST_CASE("a part of the ranks boosts for itself", "[ml][boosting]") {
  const auto group = *ht::world().split(ht::world().rank() % 2);
  const auto x = ht::from_local(iris().contiguous(), {.comm = group});
  const auto y = ht::from_local(species(), {.comm = group});
  ht::HistGradientBoostingClassifier model({.max_iterations = 5});
  CHECK(model.fit(ht::resplit(x, 0), y).score(x, y) > 0.95);
}

TEST_CASE("rows that a function makes are boosted as those of an array", "[ml][boosting]") {
  const auto x = beside(iris()), y = beside(species());
  const auto mine = x.larray();
  const ht::Rows made(mine.size(0), 4,
                      [&](std::int64_t first, std::int64_t count) { return mine.slice(0, first, first + count); });
  ht::HistGradientBoostingClassifier model({.max_iterations = 5}), of_array({.max_iterations = 5});
  model.fit(made, y);
  of_array.fit(x, y);
  CHECK(same(model.predict_proba(made), gathered(of_array.predict_proba(x))));

  const ht::Rows broken(mine.size(0), 4, [&](std::int64_t first, std::int64_t count) {
    if (ht::world().rank() + 1 == ht::world().size()) throw ht::ValueError("no rows today");
    return mine.slice(0, first, first + count);
  });
  CHECK_THROWS_WITH(model.fit(broken, y), Contains("no rows today"));
}

TEST_CASE("class weights of boosting and trees are scikit-learn's for every layout", "[ml][boosting][tree]") {
  const auto y = beside(cultivar());
  auto label = species().clone();
  label.slice(0, 120, 150).fill_(1);
  const auto kind = beside(label), w = beside(weights(150));
  const std::map<std::int64_t, double> given{{0, 1}, {2, 5}};
  for (const auto& layout : every_layout({178, 13})) {
    const auto x = distribute(wine(), layout);
    const auto scores = [&](const ht::ClassWeights& of_class) {
      ht::HistGradientBoostingClassifier model({.max_iterations = 20, .max_leaf_nodes = 5, .class_weight = of_class});
      return rows_of(model.fit(x, y).decision_function(x), {0, 59, 177});
    };
    CHECK(boosted_near(
        scores(ht::ClassWeight::balanced),
        numbers({2.7193982666590037, -2.0829691751289627, -2.2347949214105816, -2.2132710701156633, 2.966718915832522,
                 .9205044003998888, -2.1660880531653977, -2.0815517862615716, 2.788879830556763})
            .reshape({3, 3})));
    CHECK(boosted_near(
        scores(std::map<std::int64_t, double>{{0, 2.3}, {1, 1.7}, {2, 5}}),
        numbers({2.7407039481759865, -2.2354276631603245, -1.9919153784187826, -2.1472486637874737, 3.0093564844263887,
                 1.3869849759157058, -2.284536325107554, -2.417155355157786, 2.843559093892284})
            .reshape({3, 3})));
  }
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(iris(), layout);
    const auto shares = [&](const ht::ClassWeights& of_class) {
      ht::DecisionTreeClassifier model({.max_depth = 2, .class_weight = of_class});
      return rows_of(model.fit(x, kind, {.sample_weight = w}).predict_proba(x), {0, 60, 130});
    };
    CHECK(boosted_near(shares(ht::ClassWeight::balanced), numbers({1, 0, 0, 0, .9518072289156626, .04819277108433735, 0,
                                                                   .2611464968152866, .7388535031847133})
                                                              .reshape({3, 3})));
    CHECK(boosted_near(shares(given), numbers({1, 0, 0, 0, .9404761904761905, .05952380952380952, 0, .22043010752688172,
                                               .7795698924731183})
                                          .reshape({3, 3})));
    ht::RandomForestClassifier even({.n_estimators = 3}),
        ones({.n_estimators = 3, .class_weight = std::map<std::int64_t, double>{{0, 1}}});
    CHECK(same(even.fit(x, kind).predict_proba(x), gathered(ones.fit(x, kind).predict_proba(x))));
  }
}
