#include "../io/files.hpp"
#include "data.hpp"

#include <heatpp/ml/ml.hpp>
#include <heatpp_io/safetensors/model.hpp>
#include <heatpp_io/safetensors/safetensors.hpp>

#include <filesystem>

namespace {

using Catch::Contains;

template <class Model>
Model there_and_back(const Model& model) {
  const TempDir dir;
  ht::io::save_model(dir.path("model"), model.state());
  return Model::from_state(ht::io::load_model(dir.path("model")));
}

}  // namespace

TEST_CASE("models read from a file behave as the written ones", "[ml][model]") {
  for (const auto& x : {iris(), iris().to(at::kFloat)}) {
    const auto rows = even(x);
    ht::KMeans clusters({.n_clusters = 3, .tol = 0.1 + 0.2, .seed = 18'446'744'073'709'551'615ULL});
    const auto labels = clusters.fit_predict(rows);
    const auto read = there_and_back(clusters);
    CHECK(same(read.predict(rows), gathered(labels)));
    CHECK(read.inertia() == clusters.inertia());
    CHECK(read.iterations() == clusters.iterations());
    CHECK(read.options().tol == clusters.options().tol);
    CHECK(read.options().seed == clusters.options().seed);
    CHECK_THROWS_AS(read.labels().shape(), ht::ValueError);
    const auto clustered = [&](auto model) {
      model.fit(rows);
      const auto copy = there_and_back(model);
      CHECK(same(copy.predict(rows), gathered(model.labels())));
      CHECK(copy.inertia() == model.inertia());
    };
    clustered(ht::KMedians({.n_clusters = 3}));
    clustered(ht::KMedoids({.n_clusters = 3}));
    clustered(ht::MiniBatchKMeans({.n_clusters = 3}));
    for (const auto type : {ht::CovarianceType::full, ht::CovarianceType::tied, ht::CovarianceType::diag,
                            ht::CovarianceType::spherical}) {
      ht::GaussianMixture mixture({.n_components = 3, .covariance_type = type, .init = ht::MixtureInit::random});
      mixture.fit(rows);
      const auto again = there_and_back(mixture);
      CHECK(same(again.predict_proba(rows), gathered(mixture.predict_proba(rows))));
      CHECK(again.lower_bound() == mixture.lower_bound());
      CHECK(again.converged() == mixture.converged());
      CHECK(again.options().init == mixture.options().init);
    }
    for (const auto whiten : {false, true}) {
      ht::PCA pca({.n_components = 2, .whiten = whiten});
      pca.fit(rows);
      const auto again = there_and_back(pca);
      CHECK(same(again.transform(rows), gathered(pca.transform(rows))));
      CHECK(again.noise_variance() == pca.noise_variance());
      CHECK(again.score(rows) == pca.score(rows));
    }
    const auto check = [&](auto scaler) {
      scaler.fit(rows);
      CHECK(same(there_and_back(scaler).transform(rows), gathered(scaler.transform(rows))));
    };
    check(ht::IncrementalPCA({.n_components = 2, .whiten = true, .batch_size = 50}));
    check(ht::TruncatedSVD());
    check(ht::NMF({.n_components = 2}));
    check(ht::NMF({.n_components = 2, .solver = ht::NmfSolver::multiplicative, .alpha_w = 0.01, .l1_ratio = 0.5}));
    check(ht::StandardScaler({.with_mean = false}));
    check(ht::MinMaxScaler({.low = -1, .high = 0.3, .clip = true}));
    check(ht::MaxAbsScaler());
    check(ht::RobustScaler({.quantile_range = {10, 80}, .unit_variance = true}));
  }
  const auto halves = [](std::int64_t from) { return even(wine().slice(0, from, from + 89)); };
  auto scaler = there_and_back(ht::StandardScaler().fit(halves(0)));
  CHECK(close(scaler.partial_fit(halves(89)).mean(), wine().mean(0)));
}

TEST_CASE("models read from a file have the options of those that were written", "[ml][model]") {
  const auto rows = even(iris());
  const auto again = [&](auto model) {
    model.fit(rows);
    return there_and_back(model).options();
  };
  const auto asked = [&](decltype(ht::PcaOptions::n_components) n) {
    return again(ht::PCA({.n_components = n, .solver = ht::PcaSolver::full, .oversamples = 3, .seed = 9}));
  };
  CHECK(!asked(std::nullopt).n_components);
  CHECK(std::get<std::int64_t>(*asked(2).n_components) == 2);
  CHECK(std::get<double>(*asked(0.95).n_components) == 0.95);
  CHECK(std::holds_alternative<ht::MinkaMle>(*asked(ht::MinkaMle{}).n_components));
  CHECK(asked(2).solver == ht::PcaSolver::full);
  CHECK(asked(2).oversamples == 3);
  CHECK(asked(2).seed == 9);
  CHECK(!again(ht::IncrementalPCA({.batch_size = 50})).n_components);
  CHECK(again(ht::IncrementalPCA({.batch_size = 50})).batch_size == 50);
  const auto svd = again(ht::TruncatedSVD({.solver = ht::SvdSolver::randomized, .power_iterations = 3, .seed = 9}));
  CHECK(svd.solver == ht::SvdSolver::randomized);
  CHECK(svd.power_iterations == 3);
  CHECK(svd.seed == 9);
  const auto usual = again(ht::NMF());
  CHECK(!usual.n_components);
  CHECK(!usual.init);
  CHECK(!usual.alpha_h);
  const auto nmf = again(ht::NMF({.n_components = 2, .init = ht::NmfInit::random, .alpha_h = 0.1, .seed = 9}));
  CHECK(nmf.init == ht::NmfInit::random);
  CHECK(nmf.alpha_h == 0.1);
  CHECK(nmf.seed == 9);
  const auto given = even(iris().slice(0, 0, 3));
  for (const auto& init : {std::variant<ht::KMeansInit, ht::DNDarray>(ht::KMeansInit::random), {given}}) {
    const auto same_init = [&](const auto& options) {
      return options.init.index() == init.index() &&
             (init.index() == 0 ? std::get<0>(options.init) == std::get<0>(init)
                                : same(std::get<1>(options.init), iris().slice(0, 0, 3)));
    };
    CHECK(same_init(again(ht::KMeans({.n_clusters = 3, .init = init}))));
    CHECK(same_init(again(ht::KMedians({.n_clusters = 3, .init = init}))));
    CHECK(same_init(again(ht::MiniBatchKMeans({.n_clusters = 3, .init = init}))));
  }
  const auto mixture = again(ht::GaussianMixture({.n_components = 3, .means_init = given}));
  CHECK(same(*mixture.means_init, iris().slice(0, 0, 3)));
  CHECK(!mixture.weights_init);
}

TEST_CASE("states of earlier versions give the number of components that was found", "[ml][model]") {
  auto state = ht::PCA({.n_components = 0.95}).fit(even(iris())).state();
  for (const auto* later : {"asked", "n_components", "solver", "oversamples", "power_iterations", "seed"})
    state.options.erase(later);
  CHECK(std::get<std::int64_t>(*ht::PCA::from_state(state).options().n_components) == 2);
  state.options["asked"] = "most";
  CHECK_THROWS_WITH(ht::PCA::from_state(state), Contains("got \"most\" for the components"));
}

TEST_CASE("linear models read from a file predict as the written ones", "[ml][model]") {
  for (const auto& x : {diabetes(), diabetes().to(at::kFloat)}) {
    const auto rows = even(x);
    const auto y = beside(diabetes_target()), two = beside(at::stack({diabetes_target(), 3 - diabetes_target()}, 1));
    const auto check = [&](auto model, const ht::DNDarray& targets) {
      model.fit(rows, targets);
      const auto read = there_and_back(model);
      CHECK(same(read.predict(rows), gathered(model.predict(rows))));
      CHECK(same(read.coef(), gathered(model.coef())));
    };
    check(ht::LinearRegression({.intercept = false}), y);
    check(ht::LinearRegression(), two);
    check(ht::Ridge({.alpha = 0.1}), two);
    check(ht::ElasticNet({.alpha = 0.1, .l1_ratio = 0.3, .positive = true}), y);
    check(ht::Lasso({.alpha = 0.1}), y);
    check(ht::PoissonRegressor({.alpha = 1e-3}), y);
  }
  const auto rows = even(iris());
  for (const auto& labels : {species(), (species() == 1).to(at::kLong)}) {
    ht::LogisticRegression model({.c = 3, .l1_ratio = 0.5});
    model.fit(rows, beside(labels - 5));
    const auto read = there_and_back(model);
    CHECK(same(read.predict_proba(rows), gathered(model.predict_proba(rows))));
    CHECK(same(read.classes(), gathered(model.classes())));
    CHECK(read.iterations() == model.iterations());
  }
  auto state = ht::Lasso().fit(even(diabetes()), beside(diabetes_target())).state();
  state.options.at("l1_ratio") = "0.5";
  CHECK_THROWS_WITH(ht::Lasso::from_state(state), Contains("got l1_ratio 0.5 of Lasso"));
  state.options.at("dtype") = "int64";
  CHECK_THROWS_WITH(ht::Lasso::from_state(state), Contains("got \"int64\" for the option \"dtype\""));
}

TEST_CASE("states that are no model, or another one, are errors on all ranks", "[ml][model]") {
  const auto good = ht::KMeans({.n_clusters = 3}).fit(even(iris())).state();
  const auto with = [&](auto change) {
    auto state = good;
    change(state);
    return message_of<ht::ValueError>([&] { static_cast<void>(ht::KMeans::from_state(state)); });
  };
  CHECK_THAT(with([](auto& s) { s.kind = std::string("PCA"); }),
             Contains("got the state of \"PCA\"; expected that of KMeans"));
  CHECK_THAT(with([](auto& s) { s.options.at("tol") = std::string("much"); }),
             Contains("got \"much\" for the option \"tol\""));
  CHECK_THAT(with([](auto& s) { s.options.erase("seed"); }), Contains("got no option \"seed\""));
  CHECK_THAT(with([](auto& s) { s.options.at("n_clusters").push_back('1'); }),
             Contains("got \"centers\" of KMeans with shape (3, 4)"));
  CHECK_THAT(with([](auto& s) { s.arrays.clear(); }), Contains("got no array \"centers\""));
  CHECK_THROWS_AS(ht::KMeans().state(), ht::NotFittedError);
  const TempDir dir;
  ht::io::save_safetensors({{"x", ht::ones({2})}}, dir.path("model"));
  CHECK_THROWS_WITH(ht::io::load_model(dir.path("model")), Contains("without \"heatpp.kind\""));
}

// Writes models, and their results for common rows, for to_sklearn_test.py.
TEST_CASE("models for Python", "[.models]") {
  const std::filesystem::path folder = std::getenv("HEATPP_MODELS");
  const auto rows = even(iris());
  const auto write = [&](const auto& model, const ht::DNDarray& made) {
    const auto state = model.state();
    ht::io::save_model((folder / state.kind).replace_extension(".safetensors"), state);
    ht::io::save_safetensors({{"rows", rows}, {"made", made}}, (folder / state.kind).replace_extension(".made"));
  };
  const auto write_transformer = [&](auto model) { write(model, model.fit(rows).transform(rows)); };
  ht::KMeans clusters({.n_clusters = 3});
  const auto labels = clusters.fit_predict(rows);
  write(clusters, labels);
  ht::MiniBatchKMeans batches({.n_clusters = 3, .batch_size = 50});
  const auto of_batches = batches.fit_predict(rows);
  write(batches, of_batches);
  ht::GaussianMixture mixture({.n_components = 3});
  const auto components = mixture.fit_predict(rows);
  write(mixture, components);
  write_transformer(ht::PCA({.n_components = 2, .whiten = true}));
  write_transformer(ht::IncrementalPCA({.n_components = 2, .batch_size = 50}));
  write_transformer(ht::TruncatedSVD());
  write_transformer(ht::NMF({.n_components = 2}));
  write_transformer(ht::StandardScaler());
  write_transformer(ht::MinMaxScaler({.low = -1, .high = 3, .clip = true}));
  write_transformer(ht::MaxAbsScaler());
  write_transformer(ht::RobustScaler({.quantile_range = {10, 80}, .unit_variance = true}));
  const auto write_predictor = [&](auto model, const at::Tensor& y) {
    write(model, model.fit(rows, beside(y)).predict(rows));
  };
  write_predictor(ht::LinearRegression(), iris().select(1, 0));
  write_predictor(ht::Ridge(), iris());
  write_predictor(ht::ElasticNet({.alpha = 0.1}), iris().select(1, 2));
  write_predictor(ht::Lasso({.alpha = 0.1}), iris().slice(1, 1, 3));
  write_predictor(ht::PoissonRegressor(), iris().select(1, 3));
  write_predictor(ht::LogisticRegression(), 7 - species());
  write_predictor(ht::LinearDiscriminantAnalysis({.n_components = 1}), 7 - species());
  CHECK(clusters.iterations() > 0);
}

TEST_CASE("dynamics read from a file continue as the written ones", "[ml][model]") {
  const auto t = at::arange(12, at::kDouble), place = at::arange(20, at::kDouble).unsqueeze(1);
  const auto x = (0.9 * t).cos() * (0.3 * place).sin() + at::pow(0.95, t) * (0.1 * place).cos();
  const auto alike = [](const ht::DNDarray& a, const ht::DNDarray& b) { return near_to(a, gathered(b), 1e-5, 1e-5); };
  const auto drive = at::stack({(1.3 * t).sin(), (0.4 * t).cos()});
  for (const auto& fields : {x, x.to(at::kFloat)})
    for (const auto& layout : every_layout({20, 12})) {
      const auto snapshots = distribute(fields, layout);
      const auto next =
          distribute(fields.select(1, 0).contiguous(), ht::Layout({20}, std::nullopt, ht::world().size()));
      ht::DMD model({.rank = 3, .rtol = 1e-8, .dt = 0.5, .modes = ht::DmdModes::projected});
      model.fit(snapshots);
      auto read = there_and_back(model);
      CHECK(read.options().rank == 3);
      CHECK(alike(read.eigenvalues(), model.eigenvalues()));
      CHECK(close(read.reconstruct(), gathered(model.reconstruct()), 1e-5));
      auto again = ht::DMD::from_state(model.state());
      CHECK(again.basis().split() == model.basis().split());
      for (auto* each : {&model, &read, &again}) each->partial_fit(next);
      CHECK(alike(read.eigenvalues(), model.eigenvalues()));
      CHECK(alike(again.eigenvalues(), model.eigenvalues()));

      ht::DMDc driven({.system_rank = 5});
      driven.fit(snapshots, beside(drive));
      auto same_driven = there_and_back(driven);
      CHECK(same_driven.n_system_modes() == driven.n_system_modes());
      CHECK(close(same_driven.predict(next, beside(drive)), gathered(driven.predict(next, beside(drive))), 1e-5));
    }
  CHECK_THROWS_AS(ht::DMD().state(), ht::NotFittedError);
  ht::DMDc driven;
  driven.fit(beside(x), beside(drive));
  auto wrong = driven.state();
  wrong.arrays.at("controls") = ht::ones({2, 3}, {.dtype = ht::float64});
  CHECK_THROWS_WITH(ht::DMDc::from_state(wrong), Contains("controls of 3 steps"));
  wrong = driven.state();
  wrong.arrays.at("directions") = ht::ones({20, 1}, {.dtype = ht::float64});
  CHECK_THROWS_AS(ht::DMDc::from_state(wrong), ht::ValueError);
}
