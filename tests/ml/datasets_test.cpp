#include "../support.hpp"

#include <heatpp/linalg/products/product.hpp>
#include <heatpp/ml/datasets/clusters.hpp>
#include <heatpp/ml/datasets/matrixgallery.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/random/random.hpp>

namespace data = ht::datasets;

namespace {
constexpr std::optional<int> splits[] = {std::nullopt, 0, 1};
}

TEST_CASE("the matrix of Parter has the elements of its formula", "[ml][datasets]") {
  const auto i = at::arange(7, at::kDouble);
  const auto expected = 1 / (i - i.unsqueeze(1) + 0.5);
  for (const auto split : splits) {
    const auto x = data::parter(7, {.dtype = ht::float64, .split = split});
    CHECK(close(x, expected));
    CHECK(x.split() == split);
  }
  CHECK(data::parter(3).dtype() == ht::float32);
  CHECK_THROWS_WITH(data::parter(0), Catch::Contains("[parter] got 0 x 0 elements"));
}

TEST_CASE("Hermitian matrices equal their adjoints, and have positive eigenvalues if asked", "[ml][datasets]") {
  for (const auto split : splits) {
    ht::random::seed(3);
    const auto x = data::hermitian(6, {.array = {.dtype = ht::complex128, .split = split}});
    const auto whole = gathered(x);
    CHECK(x.split() == split);
    CHECK(equals(whole, whole.conj().t().resolve_conj()));
    CHECK(at::abs(at::imag(whole)).max().item<double>() > 0);
    const auto definite =
        gathered(data::hermitian(6, {.positive_definite = true, .array = {.dtype = ht::float64, .split = split}}));
    CHECK(near_to(definite, definite.t()));
    CHECK(at::linalg_eigvalsh(definite).min().item<double>() > 0);
  }
  CHECK(data::hermitian(2).dtype() == ht::complex64);
}

TEST_CASE("columns of random orthogonal matrices are orthonormal, and of either sign", "[ml][datasets]") {
  int negative = 0;
  for (const auto split : splits)
    for (const auto dtype : {ht::float64, ht::complex128}) {
      const auto x = data::random_orthogonal(9, 4, {.dtype = dtype, .split = split});
      const auto whole = gathered(x);
      CHECK(x.split() == split);
      CHECK(x.dtype() == dtype);
      CHECK(near_to(at::matmul(whole.conj().t(), whole), at::eye(4, whole.options()), 1e-12, 1e-12));
      negative += (at::real(whole).diagonal() < 0).sum().item<int>();
    }
  CHECK(negative > 0);  // Householder reflections alone would leave a bias
  CHECK(negative < 24);
  CHECK_THROWS_AS(data::random_orthogonal(3, 4), ht::ValueError);
}

TEST_CASE("singular values are those that were asked for", "[ml][datasets]") {
  const auto s = ht::array({5.0, 2.0, 0.5}, {.dtype = ht::float64, .split = 0});
  for (const auto split : splits) {
    const auto known = data::random_known_singularvalues(8, 5, s, {.dtype = ht::float64, .split = split});
    const auto values = at::linalg_svdvals(gathered(known.a));
    CHECK(known.a.split() == split);
    CHECK(near_to(values.slice(0, 0, 3), gathered(s), 1e-12, 1e-12));
    CHECK(values.slice(0, 3).abs().max().item<double>() < 1e-12);
    CHECK(near_to(at::matmul(gathered(known.u) * gathered(known.s), gathered(known.v).t()), gathered(known.a), 1e-12,
                  1e-12));
    const auto ranked = data::random_known_rank(6, 7, 2, {.array = {.dtype = ht::float64, .split = split}});
    CHECK(at::linalg_matrix_rank(gathered(ranked.a)).item<int>() == 2);
    CHECK(for_all(gathered(ranked.s).diff(), gathered(ranked.s).diff() <= 0));
  }
  CHECK_THROWS_AS(data::random_known_singularvalues(2, 5, s), ht::ValueError);
  CHECK_THROWS_AS(data::random_known_singularvalues(8, 5, -s), ht::ValueError);
  CHECK_THROWS_AS(data::random_known_rank(4, 4, 5), ht::ValueError);
}

TEST_CASE("clusters have their means, deviations and weights, on any number of ranks", "[ml][datasets]") {
  const auto means = ht::array({{0.0, 10.0}, {-20.0, 5.0}}, {.dtype = ht::float64, .split = 0});
  const auto weights = ht::array({1.0, 3.0});
  ht::random::seed(11);
  const auto alone = data::create_clusters(4000, means, 0.5, {.weights = weights, .array = {.dtype = ht::float64}});
  ht::random::seed(11);
  const auto cut =
      data::create_clusters(4000, means, 0.5, {.weights = weights, .array = {.dtype = ht::float64, .split = 0}});
  CHECK(cut.samples.split() == 0);
  CHECK(same(cut.labels, gathered(alone.labels)));
  CHECK(same(cut.samples, gathered(alone.samples)));
  const auto samples = gathered(cut.samples), labels = gathered(cut.labels);
  CHECK(labels.to(at::kDouble).mean().item<double>() == Approx(0.75).margin(0.03));
  for (const std::int64_t k : {0, 1}) {
    const auto own = samples.index({labels == k});
    CHECK(near_to(own.mean(0), gathered(means)[k], 0, 0.06));
    CHECK(near_to(own.std(0), at::full({2}, 0.5, at::kDouble), 0, 0.04));
  }
  CHECK(data::create_clusters(0, means, 1.0).samples.shape() == ht::Shape{0, 2});
  CHECK_THROWS_AS(data::create_clusters(5, means, 1.0, {.weights = ht::array({-1.0, 2.0})}), ht::ValueError);
  CHECK_THROWS_AS(data::create_clusters(5, ht::ones({3}), 1.0), ht::ValueError);
}

TEST_CASE("spherical clusters fill their balls", "[ml][datasets]") {
  for (const auto split : {std::optional<int>(), std::optional<int>(0)}) {
    const auto set =
        data::create_spherical_dataset(500, {.radius = 2, .array = {.dtype = ht::float64, .split = split}});
    const auto samples = gathered(set.samples), labels = gathered(set.labels);
    CHECK(set.samples.shape() == ht::Shape{2000, 3});
    const double centers[] = {4, 8, -4, -8};
    for (int k = 0; k < 4; ++k) {
      CHECK(equals(labels.slice(0, 500 * k, 500 * (k + 1)), at::full({500}, k, at::kLong)));
      const auto radii = (samples.slice(0, 500 * k, 500 * (k + 1)) - centers[k]).norm(2, 1);
      CHECK(radii.max().item<double>() <= 2);
      CHECK((radii / 2).pow(3).mean().item<double>() == Approx(0.5).margin(0.05));  // uniform in the volume
    }
  }
  CHECK_THROWS_AS(data::create_spherical_dataset(-1), ht::ValueError);
}
