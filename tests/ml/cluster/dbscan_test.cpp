#include "../data.hpp"

#include <heatpp/ml/cluster/dbscan.hpp>
#include <heatpp/ml/neighbors/graph.hpp>

#include <numeric>

namespace {

using Catch::Contains;

/// Returns labels from all distances, cluster by cluster from its first core row.
at::Tensor labels_from(const at::Tensor& distances, double eps, std::int64_t min_samples) {
  const auto near = distances <= eps;
  const auto core = near.sum(1) >= min_samples;
  const auto n = distances.size(0);
  auto labels = at::full({n}, -1, at::kLong);
  std::int64_t clusters = 0;
  for (std::int64_t start = 0; start < n; ++start) {
    if (!core[start].item<bool>() || labels[start].item<std::int64_t>() >= 0) continue;
    auto members = at::zeros({n}, at::kBool);
    members[start] = true;
    for (std::int64_t size = 0; size != members.sum().item<std::int64_t>();) {
      size = members.sum().item<std::int64_t>();
      members = members.logical_or(near.index({members.logical_and(core)}).any(0));
    }
    labels.index_put_({members.logical_and(labels.lt(0))}, at::scalar_tensor(clusters++, at::kLong));
  }
  return labels;
}

at::Tensor spread(std::int64_t n, std::int64_t features) {
  return (at::arange(n * features, at::kDouble) * 0.6180339887).frac().reshape({n, features});
}

ht::DNDarray cut(const at::Tensor& x) {
  return distribute(x, ht::Layout({x.size(0), x.size(1)}, 0, ht::world().size()));
}

struct Counts {
  std::vector<std::int64_t> sizes;
  std::int64_t noise, cores;
};
void check(const at::Tensor& x, const ht::DBSCANOptions& options, const Counts& expected) {
  const auto reference = labels_from(at::cdist(x, x, 2, 2), options.eps, options.min_samples);
  for (const auto& layout : every_layout({x.size(0), x.size(1)})) {
    ht::DBSCAN model(options);
    const auto labels = model.fit_predict(distribute(x, layout));
    const auto all = gathered(labels);
    CHECK(labels.split() == (layout.split() ? std::optional(0) : std::nullopt));
    CHECK(equals(all, reference));
    CHECK(all.lt(0).sum().item<std::int64_t>() == expected.noise);
    CHECK(model.core_indices().size() == expected.cores);
    CHECK(model.n_clusters() == std::ssize(expected.sizes));
    for (std::size_t c = 0; c < expected.sizes.size(); ++c)
      CHECK(all.eq(static_cast<std::int64_t>(c)).sum().item<std::int64_t>() == expected.sizes[c]);
  }
}

}  // namespace

// Expected values are from scikit-learn 1.9.1.
TEST_CASE("clusters, noise and cores are scikit-learn's", "[ml][dbscan]") {
  check(iris(), {.eps = .5, .min_samples = 5}, {{49, 84}, 17, 117});
  check(iris(), {.eps = .4, .min_samples = 4}, {{47, 38, 36, 4}, 25, 104});
  const auto raw = wine();
  check((raw - raw.mean(0)) / raw.std(0, false), {.eps = 2.2, .min_samples = 5}, {{86, 37}, 55, 86});
}

TEST_CASE("labels are those of all distances, in cells and without", "[ml][dbscan]") {
  const auto features = GENERATE(1, 2, 3, 4, 6);
  const auto x = spread(160, features);
  const auto all = at::cdist(x, x, 2, 2);
  for (const double eps : {0.001, 0.05, 0.15, 0.3, 5.0})
    for (const std::int64_t least : {1, 2, 4, 9})
      CHECK(same(ht::DBSCAN({.eps = eps, .min_samples = least}).fit_predict(cut(x)), labels_from(all, eps, least)));
}

TEST_CASE("metrics, whole numbers and float32", "[ml][dbscan]") {
  const auto x = (spread(90, 3) * 12).floor();
  const auto by_sizes = labels_from(at::cdist(x, x, 1), 2, 4), by_squares = labels_from(at::cdist(x, x, 2, 2), 2, 4);
  for (const auto type : {at::kLong, at::kFloat, at::kDouble})
    for (const auto& layout : every_layout({90, 3})) {
      const auto rows = distribute(x.to(type), layout);
      CHECK(
          same(ht::DBSCAN({.eps = 2, .min_samples = 4, .metric = ht::Metric::manhattan}).fit_predict(rows), by_sizes));
      CHECK(same(ht::DBSCAN({.eps = 2, .min_samples = 4}).fit_predict(rows), by_squares));
    }
}

TEST_CASE("a row between two clusters belongs to the one that begins first, on any ranks", "[ml][dbscan]") {
  const auto x = at::tensor({10., 10.1, 10.2, 5., 9.2, 8.4, 8.3, 8.2, 30.}, at::kDouble).reshape({9, 1});
  const auto expected = at::tensor(std::vector<std::int64_t>{0, 0, 0, -1, 0, 1, 1, 1, -1}, at::kLong);
  for (const auto& layout : every_layout({9, 1}))
    CHECK(same(ht::DBSCAN({.eps = 0.85, .min_samples = 4}).fit_predict(distribute(x, layout)),
               labels_from(at::cdist(x, x, 2, 2), 0.85, 4)));
  CHECK(equals(labels_from(at::cdist(x, x, 2, 2), 0.85, 4), expected));
}

TEST_CASE("a chain through all ranks is one cluster", "[ml][dbscan]") {
  const auto order = (at::arange(97) * 29).remainder(97).to(at::kDouble);
  for (const auto& x : {order.reshape({97, 1}), at::cat({order.reshape({97, 1}), at::zeros({97, 6}, at::kDouble)}, 1)})
    for (const auto& layout : every_layout({97, x.size(1)})) {
      ht::DBSCAN model({.eps = 1, .min_samples = 2});
      CHECK(each_is(gathered(model.fit_predict(distribute(x, layout))), 0));
      CHECK(model.n_clusters() == 1);
    }
}

TEST_CASE("groups of particles go across the sides of a periodic box", "[ml][dbscan]") {
  const auto x = spread(140, 3) * at::tensor({1., 2., 1.}, at::kDouble);
  auto apart = (x.unsqueeze(1) - x.unsqueeze(0)).abs();
  apart = at::minimum(apart, at::tensor({1., 2., INFINITY}, at::kDouble) - apart);
  const auto expected = labels_from(apart.square().sum(2).sqrt(), 0.21, 2);
  CHECK(!at::equal(expected, labels_from(at::cdist(x, x, 2, 2), 0.21, 2)));
  const auto shifted = x + at::tensor({3., -2., 0.}, at::kDouble);  // other images of the same particles
  for (const auto& layout : every_layout({140, 3}))
    for (const auto& places : {x, shifted})
      CHECK(same(
          ht::DBSCAN({.eps = 0.21, .min_samples = 2, .box = {1, 2, INFINITY}}).fit_predict(distribute(places, layout)),
          expected));
}

TEST_CASE("rows that are cut into boxes of space have the labels that they have on one rank", "[ml][dbscan]") {
  const auto features = GENERATE(1, 2, 3, 4);
  const auto clumps = spread(12, features).mul(4).index_select(0, at::arange(4000).remainder(12));
  const auto x = clumps + spread(4000, features).pow(3) * (features < 3 ? 0.3 : 2.0);
  const std::vector<double> none, box(static_cast<std::size_t>(features), 4.0);
  for (const auto& sides : {none, box})
    for (const auto& [eps, least] : {std::pair(0.02, 3), {0.15, 8}, {0.3, 30}}) {
      const ht::DBSCANOptions options{.eps = eps, .min_samples = least, .box = sides};
      ht::DBSCAN one(options), many(options);
      one.fit(distribute(x, ht::Layout({4000, features}, std::nullopt, ht::world().size())));
      many.fit(cut(x));
      CHECK(same(many.labels(), gathered(one.labels())));
      CHECK(same(many.core_indices(), gathered(one.core_indices())));
      CHECK(many.core_indices().split() == 0);
    }
}

TEST_CASE("no rank is sent the rows of all others", "[ml][dbscan]") {
  const auto x = cut(spread(20'000, 2));
  const auto before = ht::world().counters().bytes;
  ht::DBSCAN({.eps = 0.01, .min_samples = 5}).fit(x);
  const auto rows = 20'000 / ht::world().size() + 1;
  CHECK(ht::world().counters().bytes - before < 8 * (4 * rows + 2 * 1024) + 16 * 4000);
}

TEST_CASE("rows far apart, equal rows, and none", "[ml][dbscan]") {
  const auto x = at::tensor({0., 1e300, -1e300, 1e-300, 0., 0.}, at::kDouble).reshape({3, 2});
  CHECK(equals(ht::DBSCAN({.eps = 1e-3, .min_samples = 1}).fit_predict(cut(x)), at::arange(3)));
  const auto equal = at::ones({500, 3}, at::kDouble);
  CHECK(each_is(gathered(ht::DBSCAN().fit_predict(cut(equal))), 0));
  CHECK(ht::DBSCAN().fit_predict(ht::zeros({0, 2}, {.split = 0})).size() == 0);
}

TEST_CASE("bad rows and options of a clustering by density are errors on all ranks", "[ml][dbscan]") {
  auto bad = iris();
  bad[99][3] = INFINITY;
  for (const auto& layout : every_layout({150, 4}))
    CHECK_THROWS_WITH(ht::DBSCAN().fit(distribute(bad, layout)), Contains("got inf in row 99, column 3"));
  const auto good = cut(iris());
  CHECK_THROWS_WITH(ht::DBSCAN({.eps = 0}).fit(good), Contains("got eps 0"));
  CHECK_THROWS_WITH(ht::DBSCAN({.min_samples = 0}).fit(good), Contains("min_samples 0"));
  CHECK_THROWS_WITH(ht::DBSCAN({.box = {10, 10}}).fit(good), Contains("a box of 2 lengths for 4 features"));
  CHECK_THROWS_WITH(ht::DBSCAN({.box = {10, 10, 10, 0.9}}).fit(good), Contains("longer than twice eps"));
  CHECK_THROWS_AS(ht::DBSCAN().labels(), ht::NotFittedError);
}

TEST_CASE("weighted rows are cores if the weight of their neighbors suffices", "[ml][dbscan]") {
  // Expected sums are from scikit-learn 1.9.1.
  const auto w = weights(150);
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(iris(), layout);
    ht::DBSCAN model({.eps = .4, .min_samples = 6});
    const auto check = [&](const at::Tensor& weight, std::int64_t clusters, std::int64_t cores, std::int64_t sum) {
      model.fit(x, {.sample_weight = beside(weight)});
      CHECK(model.n_clusters() == clusters);
      CHECK(model.core_indices().size() == cores);
      CHECK((gathered(model.labels()) * at::arange(150)).sum().item<std::int64_t>() == sum);
    };
    check(w, 6, 124, 20898);
    check(w / 4, 4, 45, -657);
    ht::DBSCAN of_graph({.eps = .4, .min_samples = 6});
    of_graph.fit(ht::radius_neighbors_graph(x, .4, {.mode = ht::GraphMode::distance}),
                 {.sample_weight = beside(w / 4)});
    CHECK(same(of_graph.labels(), gathered(model.labels())));
    CHECK_THROWS_AS(model.fit(x, {.sample_weight = ht::ones({3})}), ht::ValueError);
  }
}
