#include "../data.hpp"

#include <heatpp/ml/decomposition/truncated_svd.hpp>

namespace {

constexpr std::array svd_solvers{ht::SvdSolver::automatic, ht::SvdSolver::gram, ht::SvdSolver::full,
                                 ht::SvdSolver::randomized};

}  // namespace

TEST_CASE("the largest singular values are scikit-learn's, for every layout and solver", "[ml][truncated_svd]") {
  for (const auto solver : svd_solvers)
    for (const auto& layout : every_layout({150, 4})) {
      ht::TruncatedSVD svd({.n_components = 3, .solver = solver});
      const auto x = distribute(iris(), layout);

      const auto z = svd.fit_transform(x);

      CHECK(close(svd.singular_values(), numbers({95.95991387196455, 17.761033657328568, 3.460930930386974}), 1e-9));
      CHECK(close(svd.explained_variance(), numbers({2.401847779433985, 2.037097115542579, 0.079842022381377}), 1e-9));
      CHECK(close(svd.explained_variance_ratio(), numbers({0.528753613547602, 0.448455755695046, 0.017576783261864}),
                  1e-9));
      const auto v = gathered(svd.components());
      CHECK(
          near_to(v[1], numbers({-0.284174902194166, -0.546744501108601, 0.708664554928933, 0.343670807689306}), 1e-8));
      CHECK(close(z, at::mm(iris(), v.t()), 1e-10));
      CHECK(close(svd.inverse_transform(z), at::mm(at::mm(iris(), v.t()), v), 1e-10));
    }
  for (const auto solver : svd_solvers)
    for (const auto& layout : every_layout({178, 13})) {
      ht::TruncatedSVD svd({.n_components = 3, .solver = solver});
      svd.fit(distribute(wine(), layout));
      CHECK(close(svd.singular_values(), numbers({10886.669906563997, 493.56204763858966, 57.148843225157464}), 1e-9));
      CHECK(close(svd.explained_variance(), numbers({97613.71047979750, 1191.955402557282, 18.18263926898388}), 1e-8));
    }
}

TEST_CASE("float32 far from 0, whole numbers and fewer rows than ranks have singular values", "[ml][truncated_svd]") {
  const auto far = (iris() + 1e4).to(at::kFloat), counts = (iris() * 10).round().to(at::kInt).slice(0, 0, 3);
  for (const auto solver : svd_solvers) {
    for (const auto& layout : every_layout({150, 4})) {
      ht::TruncatedSVD svd({.solver = solver});
      const auto z = svd.fit_transform(distribute(far, layout));
      CHECK(z.dtype() == ht::float32);
      const auto expected = at::linalg_svdvals(far.to(at::kDouble)).slice(0, 0, 2);
      CHECK(near_to(gathered(svd.singular_values()).to(at::kDouble), expected, 1e-5, 0));
    }
    for (const auto& layout : every_layout({3, 4})) {
      ht::TruncatedSVD svd({.n_components = 3, .solver = solver});
      svd.fit(distribute(counts, layout));
      CHECK(near_to(svd.singular_values(), at::linalg_svdvals(counts.to(at::kDouble)), 1e-6));
    }
  }
}

TEST_CASE("bad options and numbers are errors on all ranks", "[ml][truncated_svd]") {
  const auto x = ht::ones({9, 4}, {.split = 0});
  CHECK_THROWS_WITH(ht::TruncatedSVD({.n_components = 5}).fit(x), Catch::Contains("got 5 components of 9 rows"));
  CHECK_THROWS_AS(ht::TruncatedSVD({.n_components = 0}).fit(x), ht::ValueError);
  CHECK_THROWS_AS(ht::TruncatedSVD({.oversamples = -1}).fit(x), ht::ValueError);
  CHECK_THROWS_AS(ht::TruncatedSVD().transform(x), ht::NotFittedError);
  CHECK_THROWS_AS(ht::TruncatedSVD().fit(x).transform(ht::ones({2, 3})), ht::ValueError);
  auto bad = iris();
  bad[7][1] = NAN;
  for (const auto solver : svd_solvers)
    for (const auto& layout : every_layout({150, 4}))
      CHECK_THROWS_WITH(ht::TruncatedSVD({.solver = solver}).fit(distribute(bad, layout)),
                        Catch::Contains("got nan in row 7, column 1"));
}
