#include "../data.hpp"

#include <heatpp/ml/cluster/batch_parallel.hpp>
#include <heatpp/ml/cluster/kmedians.hpp>

namespace {

using Catch::Contains;

/// Rows near the 4 corners of a square, (400, 2).
at::Tensor corners() {
  const auto noise = (at::arange(800, at::kDouble) * 0.61803398875).frac().reshape({400, 2}) - 0.5;
  const auto points = at::tensor({0, 0, 9, 0, 0, 9, 9, 9}, at::kDouble).reshape({4, 2});
  return noise + points.index_select(0, at::arange(400, at::kLong).remainder(4));
}

}  // namespace

TEST_CASE("batches of ranks find well separated clusters, for every layout", "[ml][batch_parallel]") {
  const auto x = corners();
  const auto inertia = ht::KMeans({.n_clusters = 4, .n_init = 3}).fit(even(x)).inertia();
  const auto sizes = ht::KMedians({.n_clusters = 4, .n_init = 3}).fit(even(x)).inertia();
  for (const auto& layout : every_layout({400, 2})) {
    const auto rows = distribute(x, layout);
    ht::BatchParallelKMeans means({.n_clusters = 4, .seed = 1});
    const auto labels = means.fit_predict(rows);
    CHECK(means.inertia() == Approx(inertia).epsilon(1e-9));
    CHECK(same(means.predict(rows), gathered(labels)));
    CHECK(means.iterations() >= 1);
    ht::BatchParallelKMedians medians({.n_clusters = 4, .seed = 1});
    medians.fit(rows);
    CHECK(medians.inertia() < 1.05 * sizes);
    CHECK(same(medians.predict(rows), gathered(medians.labels())));
  }
}

TEST_CASE("centers are merged by the weight of their rows", "[ml][batch_parallel]") {
  // Every rank has rows near 0 and near 10; only the last rank has many of the latter.
  const auto last = ht::world().rank() + 1 == ht::world().size();
  const auto mine = at::cat({at::full({3, 1}, last ? 1.0 : 0.0, at::kDouble).repeat({last ? 30 : 1, 1}),
                             at::full({3, 1}, 10.0, at::kDouble)});
  const auto rows = ht::from_local(mine, {.split = 0});
  ht::BatchParallelKMeans k({.n_clusters = 2});
  k.fit(rows);
  const auto others = 3.0 * (ht::world().size() - 1);
  const auto centers = std::get<0>(gathered(k.centers()).flatten().sort());
  CHECK(centers[0].item<double>() == Approx(90 / (90 + others)).epsilon(1e-12));
  CHECK(centers[1].item<double>() == Approx(10.0));
}

TEST_CASE("ranks with fewer rows than clusters, or none, give their rows as centers", "[ml][batch_parallel]") {
  const auto x = at::tensor({0.0, 0.5, 9.0, 9.5, 20.0, 20.5}, at::kDouble).reshape({6, 1});
  for (const auto& layout : every_layout({6, 1})) {
    ht::BatchParallelKMeans means({.n_clusters = 3});
    CHECK(means.fit(distribute(x, layout)).inertia() == Approx(0.375));
    ht::BatchParallelKMedians medians({.n_clusters = 3});
    CHECK(medians.fit(distribute(x, layout)).inertia() == Approx(1.5));
  }
}

TEST_CASE("weights and given centers count in batches", "[ml][batch_parallel]") {
  const auto x = iris();
  const auto start = x.index_select(0, at::tensor({0, 50, 100}, at::kLong));
  const ht::FitOptions weighted{.sample_weight = beside(weights(150))};
  for (const auto split : {std::optional<int>(), std::optional(0)})
    for (const auto& layout : every_layout({150, 4})) {
      const auto init = distribute(start, ht::Layout({3, 4}, split, ht::world().size()));
      const auto best = ht::KMeans({.n_clusters = 3, .init = init}).fit(distribute(x, layout), weighted).inertia();
      ht::BatchParallelKMeans k({.n_clusters = 3, .init = init});
      k.fit(distribute(x, layout), weighted);
      CHECK(k.inertia() < 1.2 * best);
      CHECK(k.inertia() > best * (1 - 1e-4));
    }
  ht::BatchParallelKMeans far({.n_clusters = 3});
  CHECK(far.fit(even((x + 1e4).to(at::kFloat))).inertia() < 100);
}

TEST_CASE("a part of the ranks has batches of its own", "[ml][batch_parallel]") {
  const auto half = *ht::world().split(ht::world().rank() % 2);
  const ht::Layout layout({400, 2}, 0, half.size());
  const auto mine = corners().slice(0, layout.offset(half.rank()), layout.offset(half.rank() + 1)).contiguous();
  const auto rows = ht::from_local(mine, {.split = 0, .comm = half});
  const auto inertia = ht::KMeans({.n_clusters = 4, .n_init = 3}).fit(rows).inertia();
  CHECK(ht::BatchParallelKMeans({.n_clusters = 4, .seed = 1}).fit(rows).inertia() == Approx(inertia).epsilon(1e-9));
}

TEST_CASE("bad rows in batches are errors on all ranks", "[ml][batch_parallel]") {
  auto x = iris();
  x[120][2] = NAN;
  for (const auto& layout : every_layout({150, 4}))
    CHECK_THROWS_WITH(ht::BatchParallelKMeans({.n_clusters = 3}).fit(distribute(x, layout)),
                      Contains("[BatchParallelKMeans.fit] got nan in row 120, column 2"));
  CHECK_THROWS_WITH(ht::BatchParallelKMedians({.n_clusters = 151}).fit(even(iris())),
                    Contains("got 151 clusters of 150 rows"));
  CHECK_THROWS_WITH(ht::BatchParallelKMeans({.n_clusters = 2, .init = ht::ones({2, 3})}).fit(even(iris())),
                    Contains("expected (2, 4)"));
  CHECK_THROWS_AS(ht::BatchParallelKMeans().labels(), ht::NotFittedError);
}
