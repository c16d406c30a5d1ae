// Estimators.
#include "../check.hpp"
#include "../data.hpp"
#include "../workload.hpp"

#include <heatpp/ml/cluster/kmeans.hpp>

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

}  // namespace

std::vector<Workload> learning_workloads() {
  return {{"kmeans", "Lloyd, 8 of 32", kmeans}, {"kmeans256", "Lloyd, 256 of 64", kmeans256}};
}

}  // namespace bench
