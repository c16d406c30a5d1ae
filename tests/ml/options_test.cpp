#include "../io/files.hpp"
#include "data.hpp"

#include <heatpp/ml/ml.hpp>

namespace {

using Catch::Contains;

/// The state of a model, with the texts that an earlier version wrote instead of some.
ht::ModelState earlier(ht::ModelState state, const std::map<std::string, std::string>& texts,
                       std::initializer_list<const char*> later = {}) {
  for (const auto* name : later) CHECK(state.options.erase(name) == 1);
  for (const auto& [name, text] : texts) state.options[name] = text;
  return state;
}

/// Checks that all ranks throw ValueError with this text if the last one has other options.
template <class Model, class Options>
void check_compared(const Options& usual, const Options& other, const std::string& text, const auto& fit) {
  INFO(text);
  Model model(ht::world().rank() == ht::world().size() - 1 ? other : usual);
  CHECK_THAT(same_message<ht::ValueError>([&] { fit(model); }), Contains(text + " on rank"));
}

}  // namespace

TEST_CASE("states of trees of earlier versions have numbers for choices and 0 for none", "[ml][options]") {
  const auto x = even(iris()), y = beside(species());
  const auto tree = ht::DecisionTreeClassifier({.max_depth = 3}).fit(x, y).state();
  auto read = ht::DecisionTreeClassifier::from_state(earlier(tree, {{"max_depth", "0"}, {"max_features", "1"}}));
  CHECK(!read.options().max_depth);
  CHECK(read.options().max_features == ht::MaxFeatures::sqrt);
  const auto forest = ht::RandomForestRegressor({.n_estimators = 2}).fit(x, y).state();
  for (const auto& [text, features] :
       {std::pair("-1", std::optional<ht::MaxFeatures>()), {"0", ht::MaxFeatures::all}, {"1", ht::MaxFeatures::sqrt}})
    CHECK(ht::RandomForestRegressor::from_state(earlier(forest, {{"max_features", text}})).options().max_features ==
          features);
  CHECK_THROWS_WITH(ht::RandomForestRegressor::from_state(earlier(forest, {{"max_features", "2"}})),
                    Contains("got \"2\" for the option \"max_features\""));
  const auto boosted = ht::HistGradientBoostingClassifier({.max_iterations = 1}).fit(x, y).state();
  const auto found = ht::HistGradientBoostingClassifier::from_state(
      earlier(boosted, {{"max_leaf_nodes", "0"}, {"max_depth", "0"}}, {"early_stopping"}));
  CHECK(!found.options().max_leaf_nodes);
  CHECK(!found.options().max_depth);
  CHECK(found.options().early_stopping == false);
}

TEST_CASE("states of earlier versions with other names of options are read", "[ml][options]") {
  const auto x = even(iris()), y = beside(species());
  const auto nmf = ht::NMF({.n_components = 2, .max_iterations = 1}).fit(x).state();
  for (const auto& [text, solver] :
       {std::pair("true", ht::NmfSolver::multiplicative), {"false", ht::NmfSolver::coordinate_descent}})
    CHECK(ht::NMF::from_state(earlier(nmf, {{"multiplicative", text}}, {"solver"})).options().solver == solver);
  const auto scaler = ht::RobustScaler().fit(x).state();
  const auto of_ends = earlier(scaler, {{"quantile_low", "5"}, {"quantile_high", "90"}}, {"quantile_range"});
  CHECK(ht::RobustScaler::from_state(of_ends).options().quantile_range == std::pair(5.0, 90.0));
  CHECK_THROWS_WITH(ht::RobustScaler::from_state(earlier(scaler, {{"quantile_range", "5"}})),
                    Contains("got \"5\" for quantile_range"));
  const std::vector priors{0.25, 0.25, 0.5};
  const auto planes = ht::LinearDiscriminantAnalysis({.priors = priors}).fit(x, y).state();
  CHECK(ht::LinearDiscriminantAnalysis::from_state(planes).options().priors == priors);
  const auto given = earlier(planes, {{"n_components", "0"}, {"given_priors", "true"}}, {"priors"});
  CHECK(ht::LinearDiscriminantAnalysis::from_state(given).options().priors == priors);
  CHECK(!ht::LinearDiscriminantAnalysis::from_state(given).options().n_components);
  const auto found = earlier(planes, {{"given_priors", "false"}}, {"priors"});
  CHECK(ht::LinearDiscriminantAnalysis::from_state(found).options().priors.empty());
  const auto modes = ht::DMD({.rank = 2}).fit(x).state();
  CHECK(ht::DMD::from_state(modes).options().rank == 2);
  CHECK(!ht::DMD::from_state(earlier(modes, {{"rank", "0"}})).options().rank);
}

TEST_CASE("options of boosting are read as they were written", "[ml][options]") {
  const auto x = even(iris()), y = beside(species());
  const ht::HistGradientBoostingOptions options{.loss = ht::BoostingLoss::quantile,
                                                .quantile = 0.3,
                                                .max_iterations = 1,
                                                .max_leaf_nodes = std::nullopt,
                                                .monotonic_cst = {1, 0, -1, 0},
                                                .early_stopping = std::nullopt,
                                                .seed = 18'446'744'073'709'551'615ULL};
  using Model = ht::HistGradientBoostingRegressor;
  const auto read = Model::from_state(Model(options).fit(x, y).state()).options();
  CHECK(read.loss == options.loss);
  CHECK(read.quantile == options.quantile);
  CHECK(read.max_leaf_nodes == options.max_leaf_nodes);
  CHECK(read.monotonic_cst == options.monotonic_cst);
  CHECK(read.early_stopping == options.early_stopping);
  CHECK(read.seed == options.seed);
  for (const auto& features : {ht::FeatureChoice{}, ht::FeatureChoice{0, 3}, {false, true, false, false}}) {
    ht::HistGradientBoostingOptions of{.max_iterations = 1, .categorical_features = features};
    const auto whole = even(at::round(iris()));
    CHECK(Model::from_state(Model(of).fit(whole, y).state()).options().categorical_features == features);
  }
}

TEST_CASE("options that differ between ranks are an error of fit on all of them", "[ml][options]") {
  if (ht::world().size() == 1) return;
  const auto x = even(iris()), y = beside(species());
  const auto alone = [&](auto& model) { model.fit(x); };
  const auto with_y = [&](auto& model) { model.fit(x, y); };
  const auto part = [&](auto& model) { model.partial_fit(x); };
  using KMeans = ht::KMeansOptions;
  check_compared<ht::KMeans, KMeans>({}, {.n_clusters = 3}, "[KMeans.fit] got n_clusters 8 on rank 0 and 3", alone);
  check_compared<ht::KMeans, KMeans>({}, {.init = ht::KMeansInit::random}, "got init plus_plus on rank 0 and random",
                                     alone);
  check_compared<ht::MiniBatchKMeans, ht::MiniBatchKMeansOptions>({}, {.seed = 1}, "got seed 0 on rank 0 and 1", part);
  check_compared<ht::PCA, ht::PcaOptions>({.n_components = 2}, {.n_components = 0.5},
                                          "got n_components 2 on rank 0 and a share of 0.5", alone);
  check_compared<ht::NMF, ht::NmfOptions>({}, {.init = ht::NmfInit::random}, "got init none on rank 0 and random",
                                          alone);
  check_compared<ht::RobustScaler, ht::RobustScalerOptions>({}, {.quantile_range = {1, 99}},
                                                            "got quantile_range (25, 75) on rank 0 and (1, 99)", alone);
  check_compared<ht::StandardScaler, ht::StandardScalerOptions>({}, {.with_std = false},
                                                                "got with_std true on rank 0 and false", part);
  check_compared<ht::DBSCAN, ht::DBSCANOptions>({}, {.eps = 1}, "got eps 0.5 on rank 0 and 1", alone);
  check_compared<ht::GaussianMixture, ht::GaussianMixtureOptions>({}, {.covariance_type = ht::CovarianceType::tied},
                                                                  "got covariance_type full on rank 0 and tied", alone);
  check_compared<ht::Ridge, ht::RidgeOptions>({}, {.alpha = 2}, "[Ridge.fit] got alpha 1 on rank 0 and 2", with_y);
  check_compared<ht::GaussianNB, ht::GaussianNBOptions>({}, {.var_smoothing = 1},
                                                        "got var_smoothing 1e-09 on rank 0 and 1", with_y);
  check_compared<ht::KNeighborsClassifier, ht::KNeighborsOptions>({}, {.metric = ht::Metric::cosine},
                                                                  "got metric euclidean on rank 0 and cosine", with_y);
  check_compared<ht::RandomForestClassifier, ht::RandomForestOptions>(
      {}, {.max_features = ht::MaxFeatures::all}, "got max_features none on rank 0 and all", with_y);
  check_compared<ht::HistGradientBoostingRegressor, ht::HistGradientBoostingOptions>(
      {}, {.categorical_features = {0, 2}}, "got categorical_features [] on rank 0 and [0 2]", with_y);
  check_compared<ht::LogisticRegression, ht::LogisticOptions>({}, {.class_weight = ht::ClassWeight::balanced},
                                                              "got class_weight none on rank 0 and balanced", with_y);
}

TEST_CASE("ranks may differ in what they do with rows that they all have", "[ml][options]") {
  const auto clusters = 2 + ht::world().rank();
  const ht::KMeans model = ht::KMeans({.n_clusters = clusters})
                               .fit(distribute(iris(), ht::Layout({150, 4}, std::nullopt, ht::world().size())));
  CHECK(model.centers().shape() == ht::Shape{clusters, 4});
}
