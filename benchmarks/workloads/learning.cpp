// Estimators.
#include "../check.hpp"
#include "../data.hpp"
#include "../workload.hpp"

#include <heatpp/ml/cluster/dbscan.hpp>
#include <heatpp/ml/cluster/kmeans.hpp>
#include <heatpp/ml/decomposition/dmd.hpp>
#include <heatpp/ml/decomposition/nmf.hpp>
#include <heatpp/ml/decomposition/pca.hpp>
#include <heatpp/ml/mixture/gaussian_mixture.hpp>
#include <heatpp/ml/neighbors/nearest_neighbors.hpp>
#include <heatpp/ml/neighbors/spatial.hpp>

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

/// Makes normal rows around `centers` points; each row has one at random.
ht::DNDarray blobs(std::int64_t n, std::int64_t features, std::uint64_t centers, std::uint64_t seed) {
  const auto width = static_cast<std::uint64_t>(features);
  return generate({n, features}, 0, [=](std::uint64_t i) {
    const auto blob = hash(seed + 2, i / width) % centers;
    return normal(seed, i) + normal(seed + 1, blob * width + i % width) * 0.5f;
  });
}

Prepared clustered(const ht::DNDarray& x, const ht::KMeansOptions& options) {
  auto given = options;
  given.init = ht::copy(ht::resplit(x(ht::slice(0, options.n_clusters)), std::nullopt));
  return timed([x, given] { return ht::KMeans(given).fit(x); },
               [](const auto& model) { return check_sums(model.centers()); });
}

Prepared kmeans() { return clustered(blobs(1'000'000, 32, 12, 31), {.n_clusters = 8, .max_iterations = 30, .tol = 0}); }

Prepared kmeans256() {
  return clustered(blobs(200'000, 64, 200, 41), {.n_clusters = 256, .max_iterations = 10, .tol = 0});
}

Prepared distances(const ht::spatial::DistanceOptions& options) {
  const auto x = generate<normal>(61, {10'000, 18});
  return timed([x, options] { return ht::spatial::cdist(x, options); }, check_sums);
}
Prepared cdist() { return distances({}); }
Prepared cdist_expanded() { return distances({.quadratic_expansion = true}); }

Prepared knn() {
  const auto x = generate<normal>(62, {50'000, 16}), asking = generate<normal>(63, {2'000, 16});
  return timed([x, asking] { return ht::NearestNeighbors().fit(x).kneighbors(asking); },
               [](const ht::Neighbors& found) {
                 auto sums = check_sums(found.distances);
                 const auto indices = check_sums(found.indices.astype(ht::float32));
                 sums.insert(sums.end(), indices.begin(), indices.end());
                 return sums;
               });
}

Prepared dbscan() {
  const auto x = blobs(200'000, 3, 50, 71);
  return timed([x] { return ht::DBSCAN({.eps = 0.1, .min_samples = 10}).fit(x); },
               [](const ht::DBSCAN& model) { return check_sums(model.labels().astype(ht::float32)); });
}

/// Measures 8 components with covariances of their own, from rows, equal weights and unit covariances.
Prepared gmm() {
  const auto x = blobs(1'000'000, 16, 12, 81);
  const auto means = ht::copy(ht::resplit(x(ht::slice(0, 8)), std::nullopt)).astype(ht::float64);
  const ht::GaussianMixtureOptions options{
      .n_components = 8,
      .weights_init = ht::full({8}, 0.125, {.dtype = ht::float64}),
      .means_init = means,
      .precisions_init = ht::zeros({8, 16, 16}, {.dtype = ht::float64}) + ht::eye(16, 16, {.dtype = ht::float64}),
      .max_iterations = 20,
      .tol = 0};
  return timed([x, options] { return ht::GaussianMixture(options).fit(x); },
               [](const ht::GaussianMixture& model) { return check_sums(model.means().astype(ht::float32)); });
}

/// Makes 64 directions of 256, each 0.7 times the size of the one before, and noise.
ht::DNDarray falling_directions() {
  constexpr std::uint64_t width = 256, directions = 64;
  std::vector<double> right(directions * width), sums(width);
  for (std::uint64_t i = 0; i < right.size(); ++i)
    right[i] = static_cast<double>(normal(82, i)) * std::pow(0.7, static_cast<double>(i / width));
  return generate({100'000, width}, 0, [&](std::uint64_t i) {
    const auto row = i / width, column = i % width;
    if (column == 0) {
      std::ranges::fill(sums, 0.0);
      for (std::uint64_t k = 0; k < directions; ++k) {
        const auto left = static_cast<double>(normal(81, row * directions + k));
        for (std::uint64_t j = 0; j < width; ++j) sums[j] += left * right[k * width + j];
      }
    }
    return static_cast<float>(sums[column]) + normal(83, i) * 1e-3f;
  });
}

Prepared pca() {
  const auto x = falling_directions();
  return timed([x] { return ht::PCA({.n_components = 10}).fit(x); },
               [](const ht::PCA& model) { return check_values({model.singular_values()}); });
}

Prepared hsvd() {
  const auto x = falling_directions();
  return timed([x] { return ht::linalg::hsvd_rank(x, 10); },
               [](const ht::linalg::HSVD& found) { return check_values({found.s}); });
}

/// Makes 32 snapshots of three waves that fade, on 500,000 points.
Prepared dmd() {
  constexpr std::uint64_t times = 32, points = 500'000;
  static constexpr double sizes[]{0.99, 0.95, 0.9}, angles[]{0.3, 0.7, 1.9};
  const auto x = generate({points, times}, 0, [](std::uint64_t i) {
    const auto point = i / times, time = i % times;
    double sum = 0;
    for (std::uint64_t k = 0; k < 3; ++k) {
      const auto t = static_cast<double>(time), size = std::pow(sizes[k], t), angle = angles[k] * t;
      sum += size * (static_cast<double>(normal(84 + 2 * k, point)) * std::cos(angle) +
                     static_cast<double>(normal(85 + 2 * k, point)) * std::sin(angle));
    }
    return static_cast<float>(sum);
  });
  return timed([x] { return ht::DMD({.rank = 6}).fit(x); },
               [](const ht::DMD& model) { return check_values({ht::abs(model.eigenvalues())}); });
}

/// Measures 20 iterations of coordinate descent, checked by the error that remains.
Prepared nmf() {
  return timed([x = generate<uniform>(
                    94, {100'000, 64})] { return ht::NMF({.n_components = 8, .tol = 0, .max_iterations = 20}).fit(x); },
               [](const ht::NMF& model) { return std::vector<double>{model.reconstruction_error()}; });
}

}  // namespace

std::vector<Workload> learning_workloads() {
  return {{"gmm", "EM, 8 full of 16", gmm},
          {"kmeans", "Lloyd, 8 of 32", kmeans},
          {"kmeans256", "Lloyd, 256 of 64", kmeans256},
          {"cdist", "differences", cdist},
          {"cdist_qe", "quadratic expansion", cdist_expanded},
          {"knn", "brute force", knn},
          {"dbscan", "in cells", dbscan},
          {"pca", "covariance", pca},
          {"hsvd", "rank 10", hsvd},
          {"dmd", "rank 6", dmd},
          {"nmf", "8 components", nmf}};
}

}  // namespace bench
