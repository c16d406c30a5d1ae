#include "../../sparse/sparse_data.hpp"
#include "../data.hpp"
#include <heatpp/ml/cluster/dbscan.hpp>
#include <heatpp/ml/cluster/spectral.hpp>
#include <heatpp/ml/metrics/agreement.hpp>
#include <heatpp/ml/neighbors/graph.hpp>
#include <heatpp/sparse/io/files.hpp>
#include <heatpp_io/numpy/load_npy.hpp>

#include <cstdlib>

namespace {

using Catch::Contains;

/// Returns the graph of the k nearest rows from all distances; ties by the lowest row.
at::Tensor nearest_graph(const at::Tensor& x, std::int64_t k, const ht::NeighborsGraphOptions& options) {
  auto distances = at::cdist(x, x, options.metric == ht::Metric::manhattan ? 1 : 2, 2);
  if (!options.include_self) distances.fill_diagonal_(INFINITY);
  const auto order = std::get<1>(at::sort(distances, true, 1, false)).slice(1, 0, k);
  const auto values = options.mode == ht::GraphMode::distance ? distances : at::ones_like(distances);
  return at::zeros_like(distances).scatter(1, order, values.gather(1, order));
}

std::int64_t count(const at::Tensor& labels, std::int64_t label) { return labels.eq(label).sum().item<std::int64_t>(); }

/// n vertices in a row, with neighbors at distance 1.
at::Tensor chain(std::int64_t n) {
  return at::diag(at::ones({n - 1}, at::kDouble), 1) + at::diag(at::ones({n - 1}, at::kDouble), -1);
}

}  // namespace

TEST_CASE("graphs of the nearest rows are those of all distances, for every layout", "[ml][graph]") {
  const auto x = iris().slice(0, 30, 75);
  for (const auto mode : {ht::GraphMode::connectivity, ht::GraphMode::distance})
    for (const bool self : {false, true})
      for (const auto metric : {ht::Metric::euclidean, ht::Metric::manhattan}) {
        const ht::NeighborsGraphOptions options{.mode = mode, .include_self = self, .metric = metric};
        const auto expected = nearest_graph(x, 4, options);
        for (const auto& layout : every_layout({45, 4})) {
          const auto graph = ht::kneighbors_graph(distribute(x, layout), 4, options);
          CHECK(close(sp::to_dense(graph), expected, 1e-14));
          CHECK(graph.nnz() == 180);  // distances of 0 are entries
          CHECK(graph.split() == (layout.split() ? std::optional(0) : std::nullopt));
        }
      }
}

// Expected values are from scikit-learn 1.9.1.
TEST_CASE("graphs of neighbors have scikit-learn's entries", "[ml][graph]") {
  for (const auto& layout : every_layout({150, 4})) {
    const auto x = distribute(iris(), layout);
    const auto nearest = ht::kneighbors_graph(x, 5, {.mode = ht::GraphMode::distance});
    CHECK(nearest.nnz() == 750);
    CHECK(sp::sum(nearest).item<double>() == Approx(267.86759501901884).epsilon(1e-12));
    const auto within = ht::radius_neighbors_graph(x, 0.5, {.mode = ht::GraphMode::distance});
    CHECK(within.nnz() == 1460);
    CHECK(sp::sum(within).item<double>() == Approx(524.6618659872388).epsilon(1e-12));
    CHECK(sp::array_equal(within, sp::resplit(sp::transpose(within), within.split())));
    CHECK(ht::radius_neighbors_graph(x, 0.5, {.include_self = true}).nnz() == 1610);
    CHECK(sp::connected_components(ht::kneighbors_graph(x, 10)).count == 2);
  }
}

TEST_CASE("graphs of float32 and whole numbers, and of invalid rows", "[ml][graph]") {
  const auto x = at::arange(12, at::kLong).reshape({12, 1});
  for (const auto& layout : every_layout({12, 1})) {
    const auto whole = ht::radius_neighbors_graph(distribute(x, layout), 1, {.mode = ht::GraphMode::distance});
    CHECK(close(sp::to_dense(whole), chain(12)));
    const auto narrow = ht::kneighbors_graph(distribute((x + 10000).to(at::kFloat), layout), 1);
    CHECK(narrow.dtype() == ht::float32);
    CHECK(narrow.nnz() == 12);
    const auto rows = distribute(x, layout);
    CHECK_THROWS_WITH(ht::kneighbors_graph(rows, 12), Contains("[kneighbors_graph] got 12 neighbors of 12 rows"));
    CHECK_THROWS_AS(ht::kneighbors_graph(rows, 0), ht::ValueError);
    CHECK_THROWS_AS(ht::radius_neighbors_graph(rows, -1), ht::ValueError);
    CHECK(ht::kneighbors_graph(rows, 12, {.include_self = true}).nnz() == 144);
    auto nan = x.to(at::kDouble);
    nan[7] = NAN;
    CHECK_THROWS_WITH(ht::kneighbors_graph(distribute(nan, layout), 2), Contains("row 7"));
  }
}

TEST_CASE("DBSCAN of a graph of distances has the labels of the rows", "[ml][dbscan]") {
  for (const auto& [eps, least] : {std::pair{.5, 5}, {.4, 4}, {.3, 2}, {.2, 1}})
    for (const auto& layout : every_layout({150, 4})) {
      const auto x = distribute(iris(), layout);
      const auto graph = ht::radius_neighbors_graph(x, 0.6, {.mode = ht::GraphMode::distance});
      ht::DBSCAN of_rows({.eps = eps, .min_samples = least}), of_graph({.eps = eps, .min_samples = least});
      CHECK(same(of_graph.fit_predict(graph), gathered(of_rows.fit_predict(x))));
      CHECK(same(of_graph.core_indices(), gathered(of_rows.core_indices())));
      CHECK(of_graph.n_clusters() == of_rows.n_clusters());
      CHECK(of_graph.labels().split() == graph.split());
      // With its own entry or without: a vertex is its own neighbor.
      const auto selves = ht::radius_neighbors_graph(x, 0.6, {.mode = ht::GraphMode::distance, .include_self = true});
      CHECK(same(of_graph.fit_predict(selves), gathered(of_rows.labels())));
    }
}

TEST_CASE("clusters on many ranks, vertices without edges, and matrices that are no graph of distances",
          "[ml][dbscan]") {
  auto parts = chain(20);
  parts[9][10] = parts[10][9] = 3;  // beyond eps
  parts[19].zero_(), parts.select(1, 19).zero_();
  for (const auto& layout : row_layouts({20, 20})) {
    ht::DBSCAN model({.eps = 1, .min_samples = 3});
    const auto labels = gathered(model.fit_predict(sparse_of(parts, layout)));
    CHECK(count(labels, 0) == 10);
    CHECK(count(labels, 1) == 9);
    CHECK(count(labels, -1) == 1);
    CHECK(labels[19].item<std::int64_t>() == -1);
    CHECK(model.core_indices().size() == 15);
    CHECK(model.n_clusters() == 2);
    CHECK(same(model.fit_predict(sparse_of(at::zeros({20, 20}, at::kFloat), layout)), at::full({20}, -1, at::kLong)));
    CHECK(model.n_clusters() == 0);
    ht::DBSCAN alone({.eps = 1, .min_samples = 1});
    CHECK(same(alone.fit_predict(sparse_of(at::zeros({20, 20}, at::kFloat), layout)), at::arange(20, at::kLong)));
    auto wrong = chain(20);
    wrong[18][19] = -1;
    CHECK_THROWS_WITH(model.fit(sparse_of(wrong, layout)), Contains("[DBSCAN.fit] got a distance that is negative"));
    wrong[18][19] = NAN;
    CHECK_THROWS_AS(model.fit(sparse_of(wrong, layout)), ht::ValueError);
    CHECK_THROWS_AS(model.fit(sparse_of(chain(20).to(at::kComplexDouble), layout)), ht::TypeError);
  }
  CHECK_THROWS_AS(ht::DBSCAN().fit(sp::from_dense(ht::ones({3, 2}))), ht::ValueError);
  CHECK_THROWS_AS(ht::DBSCAN({.eps = 0}).fit(sp::identity(3)), ht::ValueError);
  CHECK_THROWS_AS(ht::DBSCAN({.box = {9}}).fit(sp::identity(3)), ht::ValueError);
}

/// Reads what digits_test.py has written about scikit-learn's digits, whole numbers with many equal distances.
TEST_CASE("the graph of the digits", "[.digits]") {
  const std::string folder = std::getenv("HEATPP_DIGITS");
  const auto x = ht::io::load_npy(folder + "/digits.npy", {.split = 0});
  const auto graph = ht::kneighbors_graph(x, 10);
  CHECK(sp::array_equal(graph, sp::load(folder + "/lowest.npz")));  // the lowest rows for ties, not any of them
  const auto far = ht::kneighbors_graph(x, 10, {.mode = ht::GraphMode::distance});
  CHECK(close(sp::sum(far, 1), gathered(sp::sum(sp::load(folder + "/distances.npz"), 1)), 1e-13));
  const auto s = (graph + sp::transpose(graph)) / 2.0;
  const auto values = gathered(ht::io::load_npy(folder + "/values.npy"));  // entries, components, the product's sums
  CHECK(s.nnz() == values[0].item<std::int64_t>());
  CHECK(sp::connected_components(s).count == values[1].item<std::int64_t>());
  const auto product = gathered(sp::matmul(
      s, distribute(at::arange(1797, at::kLong).remainder(7) + 1, ht::Layout({1797}, 0, ht::world().size()))));
  CHECK(product.sum().item<double>() == values[2].item<double>());
  CHECK(product.square().sum().item<double>() == values[3].item<double>());
  const auto distances = ht::radius_neighbors_graph(x, 20, {.mode = ht::GraphMode::distance});
  CHECK(sp::allclose(distances, sp::load(folder + "/radius.npz"), 1e-12, 0));
  ht::DBSCAN model({.eps = 20, .min_samples = 5});
  const auto labels = gathered(model.fit_predict(distances));
  CHECK(equals(labels, gathered(ht::io::load_npy(folder + "/labels.npy"))));
  CHECK(model.n_clusters() == 25);
  CHECK(count(labels, -1) == 464);
  CHECK(model.core_indices().size() == 932);
  // scikit-learn's affinity="nearest_neighbors", which takes any row for ties, has .7565.
  ht::Spectral spectral({.n_clusters = 10, .metric = ht::SpectralMetric::nearest_neighbors});
  const auto found = spectral.fit_predict(x);
  CHECK(ht::adjusted_rand_score(ht::io::load_npy(folder + "/kinds.npy", {.split = 0}), found) ==
        Approx(0.7565).margin(5e-3));
  CHECK(ht::adjusted_rand_score(ht::io::load_npy(folder + "/spectral.npy", {.split = 0}), found) > 0.99);
}
