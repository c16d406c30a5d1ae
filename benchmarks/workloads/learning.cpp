// Estimators.
#include "../check.hpp"
#include "../data.hpp"
#include "../workload.hpp"

#include <heatpp/ml/cluster/dbscan.hpp>
#include <heatpp/ml/cluster/kmeans.hpp>
#include <heatpp/ml/mixture/gaussian_mixture.hpp>
#include <heatpp/ml/neighbors/nearest_neighbors.hpp>
#include <heatpp/ml/neighbors/spatial.hpp>

namespace bench {
namespace {

/// Normal rows around `centres` points, of which each row has one at random.
ht::DNDarray blobs(std::int64_t n, std::int64_t features, std::uint64_t centres, std::uint64_t seed) {
  const auto width = static_cast<std::uint64_t>(features);
  return generate({n, features}, 0, [=](std::uint64_t i) {
    const auto blob = hash(seed + 2, i / width) % centres;
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

/// 8 components with covariances of their own, from rows, equal weights and unit covariances.
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

}  // namespace

std::vector<Workload> learning_workloads() {
  return {{"gmm", "EM, 8 full of 16", gmm},
          {"kmeans", "Lloyd, 8 of 32", kmeans},
          {"kmeans256", "Lloyd, 256 of 64", kmeans256},
          {"cdist", "differences", cdist},
          {"cdist_qe", "quadratic expansion", cdist_expanded},
          {"knn", "brute force", knn},
          {"dbscan", "in cells", dbscan}};
}

}  // namespace bench
