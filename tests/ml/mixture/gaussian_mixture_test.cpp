#include "../data.hpp"

#include <heatpp/ml/mixture/gaussian_mixture.hpp>

#include <numbers>

namespace {

using Catch::Contains;
using ht::CovarianceType;

constexpr std::array types{CovarianceType::full, CovarianceType::tied, CovarianceType::diag, CovarianceType::spherical};

at::Tensor three_flowers(const at::Tensor& x) { return x.index_select(0, at::tensor({0, 50, 100}, at::kLong)); }

ht::GaussianMixtureOptions from_flowers(const at::Tensor& x, CovarianceType type) {
  return {.n_components = 3, .covariance_type = type, .means_init = on_all(three_flowers(x)), .tol = 1e-6};
}

/// Returns log-densities of each row and component by the textbook's formula, (n, k).
at::Tensor log_densities(const at::Tensor& x, const ht::GaussianMixture& model) {
  const auto means = gathered(model.means()), precisions = gathered(model.precisions());
  const auto k = means.size(0), f = means.size(1);
  std::vector<at::Tensor> columns;
  for (std::int64_t c = 0; c < k; ++c) {
    at::Tensor precision;
    switch (model.options().covariance_type) {
      case CovarianceType::full: precision = precisions[c]; break;
      case CovarianceType::tied: precision = precisions; break;
      case CovarianceType::diag: precision = at::diag(precisions[c]); break;
      case CovarianceType::spherical: precision = at::eye(f, at::kDouble) * precisions[c]; break;
    }
    const auto d = x - means[c];
    columns.push_back((at::logdet(precision) - (at::matmul(d, precision) * d).sum(1) -
                       static_cast<double>(f) * std::log(2 * std::numbers::pi)) /
                      2);
  }
  return at::stack(columns, 1) + gathered(model.weights()).log();
}

}  // namespace

// Expected values are from scikit-learn 1.9.1.
TEST_CASE("mixtures of iris are scikit-learn's for every layout", "[ml][mixture]") {
  const auto x = iris();
  const std::array expected{-1.2012365927730106, -1.709027068696076, -2.047850899144571, -2.562094390173591};
  const std::array bounds{-1.201236742881324, -1.7090272674906495, -2.047851231774446, -2.5620947870825943};
  const std::array iterations{24, 27, 17, 14};
  for (const auto& layout : every_layout({150, 4})) {
    const auto rows = distribute(x, layout);
    for (std::size_t t = 0; t < types.size(); ++t) {
      ht::GaussianMixture model(from_flowers(x, types[t]));
      model.fit(rows);
      CHECK(model.converged());
      CHECK(model.iterations() == iterations[t]);
      CHECK(model.score(rows) == Approx(expected[t]).epsilon(1e-10));
      CHECK(model.lower_bound() == Approx(bounds[t]).epsilon(1e-10));
      const auto densities = log_densities(x, model), norms = densities.logsumexp(1);
      CHECK(close(model.score_samples(rows), norms, 1e-9));
      CHECK(close(model.predict_proba(rows), (densities - norms.unsqueeze(1)).exp(), 1e-9));
      const auto labels = model.predict(rows);
      CHECK(same(labels, densities.argmax(1)));
      CHECK(labels.split() == (layout.split() ? std::optional(0) : std::nullopt));
      if (types[t] == CovarianceType::full) CHECK(model.bic(rows) == Approx(580.8389307721384).epsilon(1e-10));
      CHECK(model.bic(rows) - model.aic(rows) ==
            Approx((std::log(150.0) - 2) * std::array{44.0, 24.0, 26.0, 17.0}[t]).epsilon(1e-9));
    }
  }
}

TEST_CASE("an iteration of a mixture is the textbook's", "[ml][mixture]") {
  const auto x = iris();
  const auto weights = ::weights(150);
  const auto means = three_flowers(x);
  const auto unit = at::eye(4, at::kDouble).repeat({3, 1, 1});
  ht::GaussianMixture model({.n_components = 3,
                             .weights_init = on_all(numbers({0.2, 0.3, 0.5})),
                             .means_init = on_all(means),
                             .precisions_init = on_all(unit),
                             .max_iterations = 1});
  const auto log =
      numbers({0.2, 0.3, 0.5}).log() - at::cdist(x, means, 2, 2).square() / 2 - 2 * std::log(2 * std::numbers::pi);
  for (const auto weighted : {false, true}) {
    const auto w = weighted ? weights : at::ones({150}, at::kDouble);
    const auto shares = log.softmax(1) * w.unsqueeze(1), counts = shares.sum(0);
    for (const auto& layout : every_layout({150, 4})) {
      model.fit(distribute(x, layout), weighted ? ht::FitOptions{beside(weights)} : ht::FitOptions{});
      CHECK_FALSE(model.converged());
      CHECK(model.iterations() == 1);
      CHECK(model.lower_bound() == Approx((log.logsumexp(1) * w).sum().item<double>() / w.sum().item<double>()));
      const auto mean = at::matmul(shares.t(), x) / counts.unsqueeze(1);
      CHECK(close(model.weights(), counts / counts.sum(), 1e-12));
      CHECK(close(model.means(), mean, 1e-11));
      const auto d = x - mean[1];
      CHECK(
          near_to(gathered(model.covariances())[1],
                  at::matmul(d.t(), d * shares.select(1, 1).unsqueeze(1)) / counts[1] + 1e-6 * at::eye(4, at::kDouble),
                  1e-10, 1e-12));
    }
  }
}

TEST_CASE("one component is the rows' mean and covariance, of whole numbers too", "[ml][mixture]") {
  const auto x = (iris() * 10).round().to(at::kInt);
  const auto wide = x.to(at::kDouble), d = wide - wide.mean(0), covariance = at::matmul(d.t(), d) / 150;
  const auto ones = at::eye(4, at::kDouble);
  for (const auto& layout : every_layout({150, 4}))
    for (const auto type : types) {
      ht::GaussianMixture model({.covariance_type = type, .reg_covar = 0});
      model.fit(distribute(x, layout));
      CHECK(close(model.means(), wide.mean(0, true), 1e-12));
      const auto found = gathered(model.covariances());
      if (type == CovarianceType::full) CHECK(near_to(found[0], covariance, 1e-10, 1e-12));
      if (type == CovarianceType::tied) CHECK(near_to(found, covariance, 1e-10, 1e-12));
      if (type == CovarianceType::diag) CHECK(near_to(found[0], covariance.diagonal(), 1e-10));
      if (type == CovarianceType::spherical) CHECK(near_to(found[0], covariance.diagonal().mean(), 1e-10));
    }
}

TEST_CASE("float32 rows far from 0 are a mixture as near it", "[ml][mixture]") {
  const auto x = (iris() + 1e4).to(at::kFloat);
  for (const auto type : types) {
    ht::GaussianMixture far(from_flowers(x, type)), near(from_flowers(x.to(at::kDouble) - 1e4, type));
    const auto rows = even(x), moved = even(x.to(at::kDouble) - 1e4);
    far.fit(rows);
    near.fit(moved);
    CHECK(far.iterations() == near.iterations());
    CHECK(far.lower_bound() == Approx(near.lower_bound()).margin(1e-8));
    CHECK(same(far.predict(rows), gathered(near.predict(moved))));
    CHECK(near_to(far.covariances(), gathered(near.covariances()), 1e-6, 1e-8));
  }
}

TEST_CASE("features and components of any number agree with the textbook", "[ml][mixture]") {
  for (const std::int64_t f : {1, 3, 5, 13, 17}) {
    const auto x = (at::arange(700 * f, at::kDouble) * 0.618).frac().reshape({700, f}) +
                   at::arange(700, at::kDouble).remainder(3).unsqueeze(1);
    for (const auto type : types) {
      ht::GaussianMixture model({.n_components = 5, .covariance_type = type, .max_iterations = 3, .reg_covar = 1e-2});
      model.fit(even(x));
      const auto norms = log_densities(x, model).logsumexp(1);
      CHECK(close(model.score_samples(even(x)), norms, 1e-8));
    }
  }
}

TEST_CASE("a mixture does not depend on the ranks, from any start", "[ml][mixture]") {
  const auto x = iris();
  for (const auto init : {ht::MixtureInit::kmeans, ht::MixtureInit::plus_plus, ht::MixtureInit::random}) {
    const ht::GaussianMixtureOptions options{.n_components = 3, .init = init, .n_init = 2, .seed = 3};
    ht::GaussianMixture alone(options);
    alone.fit(ht::from_local(x, {.comm = ht::self()}));
    for (const auto& layout : every_layout({150, 4})) {
      ht::GaussianMixture model(options);
      const auto labels = model.fit_predict(distribute(x, layout));
      CHECK(model.lower_bound() == Approx(alone.lower_bound()).epsilon(1e-9));
      CHECK(model.iterations() == alone.iterations());
      CHECK(same(labels, gathered(alone.predict(ht::from_local(x, {.comm = ht::self()})))));
    }
  }
  ht::GaussianMixture model({.n_components = 3, .n_init = 5, .tol = 1e-6});
  CHECK(model.fit(even(x)).lower_bound() > -1.2013);
}

TEST_CASE("a mixture continues from the fitted state, and any rank may end it", "[ml][mixture]") {
  const auto x = iris();
  auto options = from_flowers(x, CovarianceType::full);
  options.max_iterations = 3;
  options.warm_start = true;
  ht::GaussianMixture steps(options);
  steps.fit(even(x)).fit(even(x)).fit(even(x));
  options.max_iterations = 9;
  options.tol = 0;
  std::vector<double> objectives;
  options.progress = [&](const ht::FitProgress& p) {
    objectives.push_back(p.objective);
    return true;
  };
  ht::GaussianMixture whole(options);
  whole.fit(even(x));
  CHECK(steps.lower_bound() == Approx(whole.lower_bound()).epsilon(1e-10));
  CHECK(objectives.size() == 9);
  CHECK(std::is_sorted(objectives.rbegin(), objectives.rend()));
  options.progress = [](const ht::FitProgress& p) { return ht::world().rank() + 1 < ht::world().size() || p.done < 3; };
  ht::GaussianMixture ended(options);
  CHECK(ended.fit(even(x)).iterations() == 4);
}

TEST_CASE("rows that a function makes are a mixture as an array of them", "[ml][mixture]") {
  const auto x = iris();
  const ht::Layout layout({150, 4}, 0, ht::world().size());
  const auto first = layout.offset(ht::world().rank()), count = layout.count(ht::world().rank());
  ht::GaussianMixture model(from_flowers(x, CovarianceType::full));
  model.fit(ht::Rows(count, 4,
                     [&](std::int64_t from, std::int64_t n) { return x.slice(0, first + from, first + from + n); }));
  CHECK(model.lower_bound() == Approx(-1.20123663).margin(1e-5));
}

TEST_CASE("rows drawn from a mixture follow it, the same on any number of ranks", "[ml][mixture]") {
  const auto x = iris();
  for (const auto type : types) {
    ht::GaussianMixture model(from_flowers(x, type));
    model.fit(even(x));
    const auto [rows, labels] = model.sample(20'000, {.seed = 4});
    const auto all = gathered(rows), kinds = gathered(labels);
    CHECK(rows.split() == 0);
    const auto [alone, whose] = model.sample(20'000, {.seed = 4, .split = std::nullopt, .comm = ht::self()});
    CHECK(equals(alone, all));
    CHECK(equals(whose, kinds));
    CHECK(near_to(at::bincount(kinds, {}, 3).to(at::kDouble) / 20'000, gathered(model.weights()), 0, 0.015));
    const auto some = all.index({kinds == 1});
    CHECK(near_to(some.mean(0), gathered(model.means())[1], 0, 0.03));
    const auto d = some - some.mean(0);
    const auto covariance = at::matmul(d.t(), d) / static_cast<double>(some.size(0));
    const auto found = gathered(model.covariances());
    const auto expected = type == CovarianceType::full   ? found[1]
                          : type == CovarianceType::tied ? found
                          : type == CovarianceType::diag ? at::diag(found[1])
                                                         : at::eye(4, at::kDouble) * found[1];
    CHECK(near_to(covariance, expected, 0, 0.02));
  }
  CHECK(ht::GaussianMixture().fit(even(x)).sample(0).rows.shape() == ht::Shape{0, 4});
}

TEST_CASE("a part of the ranks has a mixture of its own", "[ml][mixture]") {
  const auto half = *ht::world().split(ht::world().rank() % 2);
  const auto x = iris();
  const ht::Layout layout({150, 4}, 0, half.size());
  const auto mine = x.slice(0, layout.offset(half.rank()), layout.offset(half.rank() + 1)).contiguous();
  ht::GaussianMixture model({.n_components = 3, .n_init = 3});
  CHECK(model.fit(ht::from_local(mine, {.split = 0, .comm = half})).lower_bound() > -1.3);
  if (half.size() == ht::world().size()) return;
  ht::GaussianMixture from_all({.n_components = 3, .means_init = even(x.slice(0, 0, 3))});
  CHECK_THROWS_AS(from_all.fit(ht::from_local(mine, {.split = 0, .comm = half})), ht::CommError);
}

TEST_CASE("invalid mixtures are an error on all ranks", "[ml][mixture]") {
  auto x = iris();
  x[120][2] = NAN;
  for (const auto& layout : every_layout({150, 4}))
    for (const auto type : types)
      CHECK_THROWS_WITH(ht::GaussianMixture({.n_components = 3, .covariance_type = type}).fit(distribute(x, layout)),
                        Contains(type == CovarianceType::tied ? "row 120" : "got nan in row 120, column 2"));
  const auto good = even(iris());
  CHECK_THROWS_WITH(ht::GaussianMixture({.n_components = 151}).fit(good), Contains("got 151 components of 150 rows"));
  CHECK_THROWS_WITH(ht::GaussianMixture({.n_components = 2, .means_init = ht::ones({2, 3})}).fit(good),
                    Contains("got means_init of shape (2, 3); expected (2, 4)"));
  CHECK_THROWS_WITH(ht::GaussianMixture({.n_components = 2, .weights_init = ht::ones({2})}).fit(good),
                    Contains("expected ones that sum to 1"));
  CHECK_THROWS_WITH(ht::GaussianMixture({.n_components = 2, .precisions_init = ht::ones({2, 2})}).fit(good),
                    Contains("expected (2, 4, 4)"));
  CHECK_THROWS_WITH(ht::GaussianMixture({.reg_covar = 0}).fit(even(at::ones({6, 2}, at::kDouble))),
                    Contains("covariance is singular"));
  CHECK_THROWS_WITH(ht::GaussianMixture({.covariance_type = CovarianceType::diag, .reg_covar = 0})
                        .fit(even(at::ones({6, 2}, at::kDouble))),
                    Contains("without variance"));
  CHECK_THROWS_AS(ht::GaussianMixture().predict(good), ht::NotFittedError);
  CHECK_THROWS_AS(ht::GaussianMixture().means(), ht::NotFittedError);
  ht::GaussianMixture model({.n_components = 2});
  model.fit(good);
  CHECK_THROWS_WITH(model.predict(ht::ones({4, 2})), Contains("got 2 features"));
  CHECK_THROWS_WITH(model.score(distribute(x, ht::Layout({150, 4}, 0, ht::world().size()))), Contains("row 120"));
  CHECK_THROWS_AS(model.sample(-1), ht::ValueError);
}
