#include "../data.hpp"

#include <heatpp/ml/decomposition/incremental_pca.hpp>
#include <heatpp/ml/decomposition/pca.hpp>

namespace {}  // namespace

TEST_CASE("batches give scikit-learn's components, for every layout", "[ml][incremental_pca]") {
  for (const auto& layout : every_layout({150, 4})) {
    ht::IncrementalPCA pca({.n_components = 2, .batch_size = 40});

    const auto z = pca.fit_transform(distribute(iris(), layout));

    CHECK(close(pca.explained_variance(), numbers({4.226542472776694, 0.242392223410499}), 1e-10));
    CHECK(close(pca.explained_variance_ratio(), numbers({0.924247140166787, 0.053005576243185}), 1e-10));
    CHECK(close(pca.singular_values(), numbers({25.094916386466153, 6.009695606947526}), 1e-10));
    CHECK(close(pca.mean(), iris().mean(0)));
    CHECK(close(pca.var(), iris().var(0, /*unbiased=*/false)));
    CHECK(pca.noise_variance() == Approx(0.0172289072105998).epsilon(1e-10));
    CHECK(pca.n_samples() == 150);
    const auto components = gathered(pca.components());
    CHECK(near_to(components[0], numbers({0.362101539018004, -0.085032473720543, 0.856405583303028, 0.358080201548704}),
                  1e-9));
    CHECK(close(z, at::mm(iris() - iris().mean(0), components.t()), 1e-10));
    CHECK(close(ht::IncrementalPCA().fit(distribute(iris(), layout)).explained_variance(),
                numbers({4.228241706034871, 0.242670747928633, 0.078209500042919, 0.02383509297345}), 1e-10));
  }
  for (const auto& layout : every_layout({178, 13})) {
    ht::IncrementalPCA pca({.n_components = 2, .batch_size = 40});
    pca.fit(distribute(wine(), layout));
    CHECK(close(pca.explained_variance(), numbers({99201.78945398804, 172.53183227141187}), 1e-8));
    CHECK(pca.noise_variance() == Approx(0.2513407930958452).epsilon(1e-8));
  }
}

TEST_CASE("successive batches give the result of fit, and do not change", "[ml][incremental_pca]") {
  ht::IncrementalPCA parts({.n_components = 3, .batch_size = 50}), all({.n_components = 3, .batch_size = 50});
  for (std::int64_t first = 0; first < 150; first += 50) {
    const auto batch = iris().slice(0, first, first + 50);
    const auto x = even(batch);
    parts.partial_fit(x);
    CHECK(same(x, batch));
  }
  CHECK(close(all.fit(even(iris())).components(), gathered(parts.components()), 1e-10));
  CHECK(close(all.singular_values(), gathered(parts.singular_values()), 1e-12));
  const auto again = ht::IncrementalPCA::from_state(parts.state()).partial_fit(even(iris().slice(0, 0, 50)));
  CHECK(close(again.singular_values(), gathered(parts.partial_fit(even(iris().slice(0, 0, 50))).singular_values())));
  CHECK(again.n_samples() == 200);
}

TEST_CASE("batches of a few rows have as many components as rows were seen", "[ml][incremental_pca]") {
  ht::IncrementalPCA pca({.n_components = 8});
  std::int64_t first = 0;
  for (const std::int64_t rows : {2, 5, 9}) {
    pca.partial_fit(even(wine().slice(0, std::exchange(first, rows), rows)));
    if (rows == 5) pca = ht::IncrementalPCA::from_state(pca.state());
    const auto seen = wine().slice(0, 0, rows);
    const auto exact = at::linalg_svdvals(seen - seen.mean(0));
    CHECK(pca.n_components() == std::min<std::int64_t>(rows, 8));
    CHECK(close(pca.singular_values(), exact.slice(0, 0, pca.n_components()), 1e-9));
  }
}

TEST_CASE("all components of whole batches lose nothing, whitened or not", "[ml][incremental_pca]") {
  const auto far = (wine() + 1e4).to(at::kFloat);
  for (const bool whiten : {false, true}) {
    ht::IncrementalPCA pca({.whiten = whiten});
    const auto x = even(far);
    const auto z = pca.fit_transform(x);
    CHECK(z.dtype() == ht::float32);
    ht::PCA exact;
    CHECK(close(pca.explained_variance(), gathered(exact.fit(x).explained_variance()), 1e-4));
    if (whiten) CHECK(near_to(gathered(z).to(at::kDouble).var(0).slice(0, 0, 9), at::ones({9}, at::kDouble), 1e-3));
    CHECK(near_to(pca.inverse_transform(z), far, 1e-6, 1e-2));
  }
}

TEST_CASE("batches that are too small, other columns and bad numbers are errors", "[ml][incremental_pca]") {
  const auto x = even(iris());
  CHECK_THROWS_WITH(ht::IncrementalPCA({.n_components = 5}).fit(x), Catch::Contains("got 5 components of"));
  CHECK_THROWS_WITH(ht::IncrementalPCA({.n_components = 3}).fit(even(iris().slice(0, 0, 2))),
                    Catch::Contains("got 3 components of 2 rows"));
  CHECK_THROWS_AS(ht::IncrementalPCA({.n_components = 3}).partial_fit(even(iris().slice(0, 0, 1))), ht::ValueError);
  CHECK_THROWS_AS(ht::IncrementalPCA().partial_fit(even(iris().slice(0, 0, 1))), ht::ValueError);
  CHECK_THROWS_AS(ht::IncrementalPCA().fit(even(iris().slice(0, 0, 0))), ht::ValueError);
  CHECK_THROWS_AS(ht::IncrementalPCA({.batch_size = 0}).fit(x), ht::ValueError);
  CHECK_THROWS_WITH(ht::IncrementalPCA().fit(x).partial_fit(even(wine())), Catch::Contains("got 13 features"));
  CHECK_THROWS_AS(ht::IncrementalPCA().var(), ht::NotFittedError);
  auto bad = iris();
  bad[77][1] = INFINITY;
  ht::IncrementalPCA pca({.batch_size = 50});
  for (const auto& layout : every_layout({150, 4}))
    CHECK_THROWS_WITH(pca.fit(distribute(bad, layout)),
                      Catch::Contains("[IncrementalPCA.fit] got inf in row 77, column 1"));
  CHECK_THROWS_AS(pca.components(), ht::NotFittedError);
}
