// Tests callbacks of the host that differ between ranks.
#include "data.hpp"

#include <heatpp/comm/log.hpp>
#include <heatpp/comm/log.hpp>
#include <heatpp/ml/cluster/kmeans.hpp>
#include <heatpp/ml/cluster/kmedians.hpp>
#include <heatpp/ml/cluster/minibatch_kmeans.hpp>
#include <heatpp/ml/decomposition/nmf.hpp>
#include <heatpp/ml/linear/elastic_net.hpp>
#include <heatpp/ml/linear/logistic_regression.hpp>
#include <heatpp/ml/linear/poisson_regressor.hpp>
#include <heatpp/ml/mixture/gaussian_mixture.hpp>
#include <heatpp/ml/tree/hist_gradient_boosting.hpp>
#include <heatpp/ml/tree/random_forest.hpp>

#include <functional>

namespace {

/// A type that the library does not know.
struct HostStop {};

bool last_rank() { return ht::world().rank() + 1 == ht::world().size(); }

/// A fit with a callback and a maximum number of iterations.
struct Watched {
  const char* name;
  std::function<void(const ht::FitCallback& progress, std::int64_t most)> fit;
};

std::vector<Watched> watched() {
  const auto x = even(iris());
  const auto y = even(at::arange(150).div(50, "floor"));
  return {
      {"KMeans",
       [=](const auto& progress, auto most) {
         ht::KMeans({.n_clusters = 3, .max_iterations = most, .tol = 0, .progress = progress}).fit(x);
       }},
      {"KMedians",
       [=](const auto& progress, auto most) {
         ht::KMedians({.n_clusters = 3, .max_iterations = most, .tol = 0, .progress = progress}).fit(x);
       }},
      {"KMedoids",
       [=](const auto& progress, auto most) {
         ht::KMedoids({.n_clusters = 3, .max_iterations = most, .tol = 0, .progress = progress}).fit(x);
       }},
      {"MiniBatchKMeans",
       [=](const auto& progress, auto most) {
         ht::MiniBatchKMeans({.n_clusters = 3, .max_iterations = most, .progress = progress}).fit(x);
       }},
      {"GaussianMixture",
       [=](const auto& progress, auto most) {
         ht::GaussianMixture({.n_components = 2, .max_iterations = most, .tol = 0, .progress = progress}).fit(x);
       }},
      {"NMF",
       [=](const auto& progress, auto most) {
         static_cast<void>(ht::NMF({.n_components = 2, .max_iterations = most, .progress = progress}).fit_transform(x));
       }},
      {"LogisticRegression",
       [=](const auto& progress, auto most) {
         ht::LogisticRegression({.max_iterations = most, .progress = progress}).fit(x, y);
       }},
      {"PoissonRegressor",
       [=](const auto& progress, auto most) {
         ht::PoissonRegressor({.max_iterations = most, .progress = progress}).fit(x, y);
       }},
      {"RandomForestClassifier",
       [=](const auto& progress, auto most) {
         ht::RandomForestClassifier({.n_estimators = 8 * (most + 1), .progress = progress}).fit(x, y);
       }},
      {"HistGradientBoostingRegressor",
       [=](const auto& progress, auto most) {
         ht::HistGradientBoostingRegressor({.max_iterations = most, .progress = progress}).fit(x, y);
       }},
  };
}

}  // namespace

TEST_CASE("if a callback throws on one rank, all ranks throw, in the first iteration and in the last",
          "[ml][callbacks]") {
  for (const auto& [name, fit] : watched())
    for (const auto& [most, from] : {std::pair{1, 1}, {3, 1}, {3, 3}}) {
      INFO(name << ", iteration " << from << " of " << most);
      std::int64_t called = 0;
      const auto progress = [&](const ht::FitProgress&) {
        if (++called == from) throw HostStop();
        return true;
      };
      if (last_rank()) CHECK_THROWS_AS(fit(progress, most), HostStop);  // this rank keeps the type of the exception
      else CHECK_THROWS_WITH(fit({}, most), Catch::Contains("std::exception"));
    }
}

TEST_CASE("a callback is not asked again after it has ended a fit", "[ml][callbacks]") {
  for (const auto& [name, fit] : watched()) {
    INFO(name);
    std::int64_t called = 0;
    const auto progress = [&](const ht::FitProgress&) { return ++called < 1; };
    fit(last_rank() ? ht::FitCallback(progress) : ht::FitCallback(), 8);
    CHECK(called == (last_rank() ? 1 : 0));
  }
}

TEST_CASE("fits report whether they have converged, and otherwise warn in the log", "[ml][callbacks]") {
  std::string said;
  ht::set_log([&](ht::LogLevel, std::string_view text) { said += text; },
              {.level = ht::LogLevel::warning, .all_ranks = true});
  const auto y = beside(species()), petals = beside(iris().select(1, 2).contiguous());
  const auto check = [&](const char* name, bool converged, bool expected) {
    CHECK(converged == expected);
    if (expected) CHECK(said.empty());
    else CHECK_THAT(said, Catch::Contains(name) && Catch::Contains("before it converged"));
    said.clear();
  };
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(iris(), layout);
    for (const bool enough : {false, true}) {
      const std::int64_t most = enough ? 10000 : 1;
      check("[LogisticRegression.fit]", ht::LogisticRegression({.max_iterations = most}).fit(x, y).converged(), enough);
      check("[PoissonRegressor.fit]", ht::PoissonRegressor({.max_iterations = most}).fit(x, petals).converged(),
            enough);
      check("[ElasticNet.fit]", ht::ElasticNet({.alpha = 1e-4, .max_iterations = most}).fit(x, petals).converged(),
            enough);
      check("[Lasso.fit]", ht::Lasso({.alpha = 1e-4, .max_iterations = most}).fit(x, petals).converged(), enough);
      check("[KMeans.fit]", ht::KMeans({.n_clusters = 3, .n_init = 1, .max_iterations = most}).fit(x).converged(),
            enough);
      check("[KMedians.fit]", ht::KMedians({.n_clusters = 3, .max_iterations = most}).fit(x).converged(), enough);
      check("[GaussianMixture.fit]",
            ht::GaussianMixture({.n_components = 3, .max_iterations = most}).fit(x).converged(), enough);
      check("[NMF.fit]", ht::NMF({.n_components = 2, .max_iterations = most}).fit(x).converged(), enough);
    }
  }
  ht::LogisticRegression asked({.progress = [](const ht::FitProgress&) { return false; }});
  CHECK_FALSE(asked.fit(beside(iris()), y).converged());
  CHECK(said.empty());  // the caller asked for the end
  ht::set_log({});
}
