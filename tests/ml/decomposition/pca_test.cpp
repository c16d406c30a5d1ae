#include "../data.hpp"

#include <heatpp/ml/decomposition/pca.hpp>

namespace {

at::Tensor samples() {
  const auto noise = (at::arange(40 * 6, at::kDouble) * 0.618).frac().reshape({40, 6});
  return noise * at::tensor({5.0, 3.0, 2.0, 1.0, 0.5, 0.1}, at::kDouble) + 10;
}

}  // namespace

TEST_CASE("components are the singular vectors of the centred samples, for every layout", "[ml][pca]") {
  const auto global = samples(), centred = global - global.mean(0);
  const auto singular = at::linalg_svdvals(centred);
  for (const auto& layout : every_layout({40, 6})) {
    const auto x = distribute(global, layout);
    ht::PCA pca({.n_components = 3});

    const auto z = pca.fit_transform(x);

    CHECK(close(pca.mean(), global.mean(0)));
    CHECK(close(pca.explained_variance(), singular.slice(0, 0, 3).square() / 39, 1e-10));
    CHECK(close(pca.explained_variance_ratio(), singular.slice(0, 0, 3).square() / singular.square().sum(), 1e-10));
    const auto components = gathered(pca.components());
    CHECK(at::allclose(at::matmul(components, components.t()), at::eye(3, at::kDouble), 1e-10, 1e-10));
    CHECK(close(z, at::matmul(centred, components.t()), 1e-10));
    CHECK(z.split() == (layout.split() ? std::optional(0) : std::nullopt));
    CHECK((gathered(pca.components()).amax(1) >= -gathered(pca.components()).amin(1)).all().item<bool>());
  }
}

TEST_CASE("all components, whitened or not, give the samples back", "[ml][pca]") {
  const auto global = samples();
  for (const bool whiten : {false, true}) {
    ht::PCA pca({.whiten = whiten});
    const auto x = distribute(global, ht::Layout({40, 6}, 0, ht::world().size()));
    const auto z = pca.fit_transform(x);
    CHECK(close(pca.inverse_transform(z), global, 1e-10));
    if (whiten) CHECK(at::allclose(gathered(z).var(0), at::ones({6}, at::kDouble), 1e-8));
  }
}

TEST_CASE("float32 samples give float32 results", "[ml][pca]") {
  ht::PCA pca({.n_components = 2});
  const auto z = pca.fit_transform(distribute(samples().to(at::kFloat), ht::Layout({40, 6}, 0, ht::world().size())));
  CHECK(z.dtype() == ht::float32);
  CHECK(pca.components().dtype() == ht::float32);
}

TEST_CASE("float32 samples far from 0 have the components of those near it", "[ml][pca]") {
  const auto near = samples().to(at::kFloat), far = near + 1e4;
  for (const auto& layout : every_layout({40, 6})) {
    ht::PCA pca;
    pca.fit(distribute(far, layout));
    const auto centred = far.to(at::kDouble) - far.to(at::kDouble).mean(0);
    CHECK(at::allclose(gathered(pca.explained_variance()).to(at::kDouble), at::linalg_svdvals(centred).square() / 39,
                       1e-5, 1e-6));
  }
}

TEST_CASE("components of iris are scikit-learn's", "[ml][pca]") {
  ht::PCA pca;
  pca.fit(distribute(iris(), ht::Layout({150, 4}, 0, ht::world().size())));
  CHECK(close(pca.explained_variance(),
              at::tensor({4.228241706034864, .242670747928633, .078209500042919, .023835092973449}, at::kDouble)));
  CHECK(at::allclose(gathered(pca.components())[0],
                     at::tensor({.361386591785, -.084522514065, .856670605950, .358289197151}, at::kDouble), 1e-10,
                     1e-11));
  CHECK(gathered(pca.explained_variance_ratio())[0].item<double>() == Approx(.924618723201727).epsilon(1e-12));
}

TEST_CASE("bad samples are errors on all ranks", "[ml][pca]") {
  CHECK_THROWS_WITH(ht::PCA({.n_components = 7}).fit(ht::ones({40, 6}, {.split = 0})),
                    Catch::Contains("got 7 components"));
  CHECK_THROWS_AS(ht::PCA().fit(ht::ones({40}, {.split = 0})), ht::ValueError);
  CHECK_THROWS_AS(ht::PCA().fit(ht::ones({1, 4}, {.split = 0})), ht::ValueError);
  CHECK_THROWS_WITH(ht::PCA().components(), Catch::Contains("expected a call of fit"));
  CHECK_THROWS_AS(ht::PCA().fit(ht::ones({4, 2})).transform(ht::ones({4, 3})), ht::ValueError);
  auto x = samples();
  x[33][4] = NAN;
  for (const auto& layout : every_layout({40, 6}))
    CHECK_THROWS_WITH(ht::PCA().fit(distribute(x, layout)), Catch::Contains("got nan in row 33, column 4"));
}
