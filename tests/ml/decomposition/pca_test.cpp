#include "../data.hpp"

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ml/decomposition/pca.hpp>

namespace {

at::Tensor samples() {
  const auto noise = (at::arange(40 * 6, at::kDouble) * 0.618).frac().reshape({40, 6});
  return noise * at::tensor({5.0, 3.0, 2.0, 1.0, 0.5, 0.1}, at::kDouble) + 10;
}

}  // namespace

TEST_CASE("components are the singular vectors of the centered samples, for every layout", "[ml][pca]") {
  const auto global = samples(), centered = global - global.mean(0);
  const auto singular = at::linalg_svdvals(centered);
  for (const auto& layout : every_layout({40, 6})) {
    const auto x = distribute(global, layout);
    ht::PCA pca({.n_components = 3});

    const auto z = pca.fit_transform(x);

    CHECK(close(pca.mean(), global.mean(0)));
    CHECK(close(pca.explained_variance(), singular.slice(0, 0, 3).square() / 39, 1e-10));
    CHECK(close(pca.explained_variance_ratio(), singular.slice(0, 0, 3).square() / singular.square().sum(), 1e-10));
    const auto components = gathered(pca.components());
    CHECK(near_to(at::matmul(components, components.t()), at::eye(3, at::kDouble), 1e-10, 1e-10));
    CHECK(close(z, at::matmul(centered, components.t()), 1e-10));
    CHECK(z.split() == (layout.split() ? std::optional(0) : std::nullopt));
    CHECK(for_all(components.amax(1), components.amax(1) >= -components.amin(1)));
  }
}

TEST_CASE("all components, whitened or not, give the samples back", "[ml][pca]") {
  const auto global = samples();
  for (const bool whiten : {false, true}) {
    ht::PCA pca({.whiten = whiten});
    const auto x = distribute(global, ht::Layout({40, 6}, 0, ht::world().size()));
    const auto z = pca.fit_transform(x);
    CHECK(close(pca.inverse_transform(z), global, 1e-10));
    if (whiten) CHECK(near_to(gathered(z).var(0), at::ones({6}, at::kDouble), 1e-8));
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
    const auto centered = far.to(at::kDouble) - far.to(at::kDouble).mean(0);
    CHECK(near_to(gathered(pca.explained_variance()).to(at::kDouble), at::linalg_svdvals(centered).square() / 39, 1e-5,
                  1e-6));
  }
}

TEST_CASE("components of iris are scikit-learn's", "[ml][pca]") {
  ht::PCA pca;
  pca.fit(distribute(iris(), ht::Layout({150, 4}, 0, ht::world().size())));
  CHECK(close(pca.explained_variance(),
              at::tensor({4.228241706034864, .242670747928633, .078209500042919, .023835092973449}, at::kDouble)));
  CHECK(near_to(gathered(pca.components())[0],
                at::tensor({.361386591785, -.084522514065, .856670605950, .358289197151}, at::kDouble), 1e-10, 1e-11));
  CHECK(gathered(pca.explained_variance_ratio())[0].item<double>() == Approx(.924618723201727).epsilon(1e-12));
}

namespace {

constexpr std::array solvers{ht::PcaSolver::automatic, ht::PcaSolver::covariance, ht::PcaSolver::full,
                             ht::PcaSolver::randomized, ht::PcaSolver::hierarchical};

/// Rows of 3 directions of very different sizes.
at::Tensor graded() {
  const auto noise = samples() - 10;
  const auto sizes = at::tensor({1.0, 1e-5, 1e-10, 0.0, 0.0, 0.0}, at::kDouble);
  return at::mm(noise / noise.norm(2, 0) * sizes, std::get<0>(at::linalg_qr(noise.slice(0, 0, 6))));
}

}  // namespace

TEST_CASE("every solver has scikit-learn's attributes, for every layout", "[ml][pca]") {
  const std::array noise{0.05102229650817696, 1.5618370558609975}, scores{-2.6997965106756614, -29.189685579383127};
  const std::array values{numbers({25.099960442183793, 6.013147382308468}),
                          numbers({4190.31224905664, 174.75337526522})};
  const std::array first{numbers({-1.782961104018126, -7.141973753363061}),
                         numbers({-28.285266252873445, -25.529327019611667})};
  for (const std::size_t set : {0U, 1U}) {
    const auto x = set == 0 ? iris() : wine();
    for (const auto solver : solvers)
      for (const auto& layout : every_layout({x.size(0), x.size(1)})) {
        ht::PCA pca({.n_components = 2, .solver = solver});
        pca.fit(distribute(x, layout));

        CHECK(close(pca.singular_values(), values[set], 1e-10));
        CHECK(close(pca.explained_variance(), values[set].square() / static_cast<double>(x.size(0) - 1), 1e-9));
        CHECK(close(pca.explained_variance_ratio(),
                    values[set].square() / (static_cast<double>(x.size(0) - 1) * x.var(0).sum()), 1e-9));
        CHECK(pca.noise_variance() == Approx(noise[set]).epsilon(1e-8));
        CHECK(pca.score(distribute(x, layout)) == Approx(scores[set]).epsilon(1e-9));
        const auto each = pca.score_samples(distribute(x, layout));
        CHECK(near_to(gathered(each).index_select(0, at::tensor({0, 100}, at::kLong)), first[set], 1e-8));
        CHECK(each.split() == (layout.split() ? std::optional(0) : std::nullopt));
        CHECK(close(pca.mean(), x.mean(0), 1e-12));
        CHECK(pca.n_samples() == x.size(0));
        CHECK(pca.n_components() == 2);
        CHECK(gathered(pca.components())
                  .gather(1, gathered(pca.components()).abs().argmax(1, true))
                  .min()
                  .item<double>() > 0);
      }
  }
}

TEST_CASE("the covariance of the density and its inverse are scikit-learn's", "[ml][pca]") {
  ht::PCA pca({.n_components = 2});
  pca.fit(distribute(iris(), ht::Layout({150, 4}, 0, ht::world().size())));
  CHECK(gathered(pca.covariance())[0][1].item<double>() == Approx(-0.03571513823644065).epsilon(1e-10));
  CHECK(gathered(pca.precision())[0][1].item<double>() == Approx(-6.829178894708944).epsilon(1e-10));
  const auto product = at::mm(gathered(pca.covariance()), gathered(pca.precision()));
  CHECK(near_to(product, at::eye(4, at::kDouble), 1e-10, 1e-10));
  CHECK(ht::PCA()
            .fit(ht::resplit(distribute(iris(), ht::Layout({150, 4}, 0, ht::world().size())), 1))
            .score(distribute(iris(), ht::Layout({150, 4}, std::nullopt, ht::world().size()))) ==
        Approx(-2.532808843783387).epsilon(1e-10));
}

TEST_CASE("a share of the variance takes as many components as are needed, by every solver that has all", "[ml][pca]") {
  const std::array shares{0.9, 0.97, 0.98, 0.999};
  const std::array of_iris{1, 2, 3, 4}, of_wine{1, 1, 1, 2};
  for (const auto solver : {ht::PcaSolver::automatic, ht::PcaSolver::full, ht::PcaSolver::hierarchical})
    for (std::size_t i = 0; i < shares.size(); ++i)
      for (const auto& layout : every_layout({150, 4})) {
        CHECK(ht::PCA({.n_components = shares[i], .solver = solver}).fit(distribute(iris(), layout)).n_components() ==
              of_iris[i]);
        CHECK(ht::PCA({.n_components = shares[i], .solver = solver})
                  .fit(distribute(wine(), ht::Layout({178, 13}, 0, ht::world().size())))
                  .n_components() == of_wine[i]);
      }
}

TEST_CASE("solvers that make no products find components that are small beside the largest", "[ml][pca]") {
  const auto x = graded();
  const auto expected = at::linalg_svdvals(x - x.mean(0)).slice(0, 0, 3);
  for (const auto solver : {ht::PcaSolver::full, ht::PcaSolver::hierarchical})
    for (const auto& layout : every_layout({40, 6})) {
      ht::PCA pca({.n_components = 3, .solver = solver});
      pca.fit(distribute(x, layout));
      CHECK(near_to(pca.singular_values(), expected, 1e-5, 0));
      CHECK(near_to(at::mm(gathered(pca.components()), gathered(pca.components()).t()), at::eye(3, at::kDouble), 1e-10,
                    1e-10));
    }
}

TEST_CASE("the randomized solver finds the first components of many features", "[ml][pca]") {
  const auto left = at::cos(at::arange(120 * 6, at::kDouble).square()).reshape({120, 6});
  const auto right = at::cos((at::arange(6 * 90, at::kDouble) * 0.3).square()).reshape({6, 90});
  const auto sizes = at::pow(0.4, at::arange(6, at::kDouble));
  const auto x = at::mm(left * sizes, right) + 100;
  const auto expected = at::linalg_svdvals(x - x.mean(0)).slice(0, 0, 3);
  for (const auto& layout : every_layout({120, 90})) {
    ht::PCA pca({.n_components = 3, .solver = ht::PcaSolver::randomized, .oversamples = 2, .seed = 7});
    pca.fit(distribute(x, layout));
    CHECK(near_to(pca.singular_values(), expected, 1e-6, 0));
  }
}

TEST_CASE("rows that come in parts give the components of all of them", "[ml][pca]") {
  const auto global = samples() + 1e4;
  for (const auto& layout : every_layout({40, 6})) {
    ht::PCA all, parts;
    all.fit(distribute(global, layout));
    for (const std::int64_t first : {0, 9, 10}) {
      const auto part = global.slice(0, first, first == 0 ? 9 : first == 9 ? 10 : 40);
      const auto split = layout.split();
      parts.partial_fit(distribute(part, ht::Layout({part.size(0), 6}, split, ht::world().size())));
    }
    CHECK(close(parts.explained_variance(), gathered(all.explained_variance()), 1e-9));
    CHECK(close(parts.components(), gathered(all.components()), 1e-8));
    CHECK(close(parts.mean(), global.mean(0)));
    CHECK(parts.n_samples() == 40);
    const auto again = ht::PCA::from_state(parts.state()).partial_fit(distribute(global, layout));
    CHECK(again.n_samples() == 80);
    CHECK(close(again.singular_values(), at::linalg_svdvals(global - global.mean(0)) * std::sqrt(2.0), 1e-8));
  }
  const auto x = distribute(global, ht::Layout({40, 6}, 0, ht::world().size()));
  CHECK_THROWS_AS(ht::PCA({.solver = ht::PcaSolver::full}).partial_fit(x), ht::ValueError);
  CHECK_THROWS_AS(ht::PCA().fit(x).partial_fit(x), ht::ValueError);
}

TEST_CASE("fewer rows than ranks or features, a constant column and whole numbers", "[ml][pca]") {
  const auto x = at::tensor({1, 2, 3, 5, 7, 7, 0, 4, 7}, at::kLong).reshape({3, 3}).t().contiguous();
  const auto wide = at::cat({x, x * x, at::ones({3, 2}, at::kLong)}, 1);
  for (const auto solver : solvers)
    for (const auto& layout : every_layout({3, 8})) {
      ht::PCA pca({.solver = solver});
      const auto z = pca.fit_transform(distribute(wide, layout));
      CHECK(pca.n_components() == 3);
      const auto centered = wide.to(at::kDouble) - wide.to(at::kDouble).mean(0);
      CHECK(near_to(pca.singular_values(), at::linalg_svdvals(centered), 1e-9, 1e-5));
      CHECK(near_to(pca.inverse_transform(z), wide.to(at::kDouble), 1e-7, 1e-7));
    }
  for (const auto solver : solvers) {
    ht::PCA pca({.n_components = 2, .solver = solver});
    pca.fit(ht::ones({9, 3}, {.dtype = ht::float64, .split = 0}));
    CHECK(gathered(pca.explained_variance()).abs().max().item<double>() == 0);
    CHECK(gathered(pca.explained_variance_ratio()).abs().max().item<double>() == 0);
    CHECK_THROWS_AS(pca.score(ht::ones({2, 3})), ht::ValueError);
  }
}

TEST_CASE("bad samples are errors on all ranks", "[ml][pca]") {
  CHECK_THROWS_WITH(ht::PCA({.n_components = 7}).fit(ht::ones({40, 6}, {.split = 0})),
                    Catch::Contains("got 7 components"));
  CHECK_THROWS_AS(ht::PCA({.n_components = 5}).fit(ht::ones({4, 6}, {.split = 0})), ht::ValueError);
  CHECK_THROWS_AS(ht::PCA({.n_components = 1.0}).fit(ht::ones({40, 6}, {.split = 0})), ht::ValueError);
  CHECK_THROWS_WITH(
      ht::PCA({.n_components = 0.5, .solver = ht::PcaSolver::randomized}).fit(ht::ones({40, 6}, {.split = 0})),
      Catch::Contains("got a share 0.5"));
  CHECK_THROWS_AS(ht::PCA({.power_iterations = -1}).fit(ht::ones({40, 6}, {.split = 0})), ht::ValueError);
  CHECK_THROWS_AS(ht::PCA().fit(ht::ones({40}, {.split = 0})), ht::ValueError);
  CHECK_THROWS_AS(ht::PCA().fit(ht::ones({1, 4}, {.split = 0})), ht::ValueError);
  CHECK_THROWS_WITH(ht::PCA().components(), Catch::Contains("expected a call of fit"));
  CHECK_THROWS_AS(ht::PCA().fit(ht::ones({4, 2})).transform(ht::ones({4, 3})), ht::ValueError);
  auto x = samples();
  x[33][4] = NAN;
  for (const auto solver : solvers)
    for (const auto& layout : every_layout({40, 6}))
      CHECK_THROWS_WITH(ht::PCA({.n_components = 2, .solver = solver}).fit(distribute(x, layout)),
                        Catch::Contains("got nan in row 33, column 4"));
}

TEST_CASE("some of the ranks find components without the others", "[ml][pca]") {
  const auto half = *ht::world().split(ht::world().rank() % 2);
  const auto whole = ht::detail::wrap(iris(), ht::Layout({150, 4}, std::nullopt, half.size()), half);
  const auto x = ht::resplit(whole, 0);
  for (const auto solver : solvers) {
    ht::PCA pca({.n_components = 2, .solver = solver});
    pca.fit(x);
    CHECK(close(pca.singular_values(), numbers({25.099960442183793, 6.013147382308468}), 1e-10));
  }
}

// Expected values are from scikit-learn 1.9.1: PCA("mle").
TEST_CASE("the likeliest number of components is scikit-learn's", "[ml][pca]") {
  const auto i = at::arange(300, at::kDouble);
  const auto f = [&](double c) { return (i * c).frac(); };
  const auto a = f(0.6180339887), b = f(0.7548776662);
  auto plane = at::stack({a, b, a + b, a - b, 2 * a, a + 2 * b}, 1);
  for (int k = 1; k < 7; ++k)
    plane.select(1, k - 1) += 0.05 * ((i * 12.9898 + k * 78.233).sin().abs() * 437.585453).frac();
  for (const auto solver : {ht::PcaSolver::covariance, ht::PcaSolver::full})
    for (const auto& [x, count, noise] : {std::tuple(iris(), 3, 0.02383509297344581),
                                          {wine(), 12, 0.008203703141778531},
                                          {plane, 2, 0.0001980421186083658}})
      for (const auto& layout : every_layout({x.size(0), x.size(1)})) {
        ht::PCA model({.n_components = ht::MinkaMle{}, .solver = solver});
        model.fit(distribute(x, layout));
        CHECK(model.n_components() == count);
        CHECK(model.noise_variance() == Approx(noise).epsilon(1e-6));
      }
  const auto few = beside(iris().slice(0, 0, 3));
  CHECK_THROWS_WITH(ht::PCA({.n_components = ht::MinkaMle{}}).fit(few), Catch::Contains("got 3 rows of 4 features"));
  CHECK_THROWS_AS(ht::PCA({.n_components = ht::MinkaMle{}, .solver = ht::PcaSolver::randomized}).fit(beside(iris())),
                  ht::ValueError);
}
