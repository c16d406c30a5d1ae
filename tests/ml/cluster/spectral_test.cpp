#include "../../sparse/sparse_data.hpp"
#include "../data.hpp"

#include <heatpp/ml/cluster/spectral.hpp>
#include <heatpp/ml/metrics/agreement.hpp>
#include <heatpp/ml/neighbors/graph.hpp>
#include <heatpp/ml/neighbors/spatial.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>

namespace {

using Catch::Contains;
using ht::graph::LaplacianBoundary;
using ht::graph::LaplacianDefinition;
using ht::graph::LaplacianMode;

double agreement(const ht::DNDarray& labels, const at::Tensor& kinds) {
  return ht::adjusted_rand_score(beside(kinds), labels);
}

/// n rows in squares of this width around each of three points that are 6 apart.
at::Tensor blobs(std::int64_t n, double width) {
  const auto noise = (at::arange(6 * n, at::kDouble) * 0.61803398875).frac().reshape({3 * n, 2}) * width - width / 2;
  const auto points = at::tensor({0, 0, 6, 0, 0, 6}, at::kDouble).reshape({3, 2});
  return noise + points.index_select(0, at::arange(3 * n, at::kLong).remainder(3));
}

/// Two rings, one inside the other.
at::Tensor rings(std::int64_t n) {
  const auto angle = at::arange(n, at::kDouble) * (2 * M_PI / static_cast<double>(n));
  const auto ring = at::stack({angle.cos(), angle.sin()}, 1);
  return at::cat({ring, ring * 0.5});
}

}  // namespace

TEST_CASE("Laplacians are those of the formulas for every layout", "[ml][laplacian]") {
  const auto x = iris().slice(0, 40, 60);
  const auto distances = at::cdist(x, x, 2, 2);
  const auto similarity = [](const ht::Rows& rows) { return ht::spatial::cdist(rows); };
  for (const auto weighted : {true, false})
    for (const auto mode : {LaplacianMode::fully_connected, LaplacianMode::e_neighbour})
      for (const auto boundary : {LaplacianBoundary::upper, LaplacianBoundary::lower}) {
        const auto near = mode == LaplacianMode::fully_connected ? distances >= 0
                          : boundary == LaplacianBoundary::upper ? distances < 0.6
                                                                 : distances > 0.6;
        const auto a =
            (weighted ? distances : at::ones_like(distances)) * near.to(at::kDouble) * (1 - at::eye(20, at::kDouble));
        const auto degrees = a.sum(1), l = at::diag(degrees) - a;
        const auto inverse = at::where(degrees > 0, degrees.reciprocal(), 0.0), root = inverse.sqrt();
        for (const auto& layout : every_layout({20, 4})) {
          const auto made = [&](LaplacianDefinition definition) {
            return ht::graph::Laplacian(similarity, {.weighted = weighted,
                                                     .definition = definition,
                                                     .mode = mode,
                                                     .threshold_key = boundary,
                                                     .threshold_value = 0.6})
                .construct_with_degrees(distribute(x, layout));
          };
          const auto simple = made(LaplacianDefinition::simple);
          CHECK(close(simple.matrix, l));
          CHECK(close(simple.degrees, degrees));
          CHECK(simple.matrix.split() == (layout.split() ? std::optional(0) : std::nullopt));
          CHECK(close(made(LaplacianDefinition::norm_sym).matrix, root.unsqueeze(1) * l * root));
          CHECK(close(made(LaplacianDefinition::norm_rw).matrix, inverse.unsqueeze(1) * l));
        }
      }
}

TEST_CASE("a vertex without neighbors has a row of zeros", "[ml][laplacian]") {
  const auto x = at::tensor({0.0, 0.1, 50.0}, at::kDouble).reshape({3, 1});
  for (const auto& layout : every_layout({3, 1})) {
    const ht::graph::Laplacian laplacian([](const ht::Rows& rows) { return ht::spatial::cdist(rows); },
                                         {.weighted = false, .mode = LaplacianMode::e_neighbour});
    CHECK(close(laplacian.construct(distribute(x, layout)),
                at::tensor({1, -1, 0, -1, 1, 0, 0, 0, 0}, at::kDouble).reshape({3, 3})));
  }
  CHECK_THROWS_WITH(ht::graph::Laplacian([](const ht::Rows& rows) {
                      return ht::negative(ht::spatial::cdist(rows));
                    }).construct(even(iris())),
                    Contains("negative or not finite"));
  CHECK_THROWS_WITH(ht::graph::Laplacian([](const ht::Rows&) {
                      return ht::ones({2, 2});
                    }).construct(even(iris())),
                    Contains("expected floating ones of (150, 150)"));
}

// scikit-learn 1.9.1 has the same agreement.
TEST_CASE("spectral clusters agree with the kinds as scikit-learn's do", "[ml][spectral]") {
  for (const auto& x : {iris(), (iris() + 1e4).to(at::kFloat)})
    for (const auto& layout : every_layout({150, 4})) {
      ht::Spectral model({.n_clusters = 3});
      const auto labels = model.fit_predict(distribute(x, layout));
      CHECK(agreement(labels, species()) == Approx(0.7455).margin(5e-3));
      CHECK(labels.split() == (layout.split() ? std::optional(0) : std::nullopt));
      const auto rounding = x.scalar_type() == at::kFloat ? 1e-7 : 1e-14;  // of the similarities
      CHECK(std::abs(gathered(model.eigenvalues())[0].item<double>()) < rounding);
    }
}

TEST_CASE("blobs, rings and parts of a graph are distinguished", "[ml][spectral]") {
  const auto kinds = at::arange(600, at::kLong).remainder(3);
  ht::Spectral model({.n_clusters = 3});
  CHECK(agreement(model.fit_predict(even(blobs(200, 2))), kinds) == 1);
  ht::Spectral by_gap;
  CHECK(agreement(by_gap.fit_predict(even(blobs(200, 1))), kinds) == 1);
  CHECK(by_gap.n_clusters() == 3);
  const auto ring = at::arange(200, at::kLong).floor_divide(100);
  for (const auto& layout : every_layout({200, 2})) {
    ht::Spectral parts({.n_clusters = 2, .metric = ht::SpectralMetric::euclidean, .threshold = 0.2});
    CHECK(agreement(parts.fit_predict(distribute(rings(100), layout)), ring) == 1);
    CHECK(gathered(parts.eigenvalues())[1].item<double>() == Approx(0).margin(1e-10));
  }
  ht::Spectral near({.n_clusters = 2, .gamma = 50});
  CHECK(agreement(near.fit_predict(even(rings(100))), ring) == 1);
  ht::Spectral beyond({.n_clusters = 2, .laplacian = LaplacianMode::e_neighbour, .threshold = 0.9});
  CHECK(agreement(beyond.fit_predict(even(rings(100))), ring) == 1);
}

TEST_CASE("whole numbers, and a part of the ranks, have spectral clusters", "[ml][spectral]") {
  const auto x = at::tensor({0, 1, 2, 30, 31, 32}, at::kInt).reshape({6, 1});
  for (const auto& layout : every_layout({6, 1})) {
    ht::Spectral model({.n_clusters = 2});
    CHECK(agreement(model.fit_predict(distribute(x, layout)), at::arange(6, at::kLong).floor_divide(3)) == 1);
  }
  const auto half = *ht::world().split(ht::world().rank() % 2);
  const ht::Layout layout({150, 4}, 0, half.size());
  const auto mine = iris().slice(0, layout.offset(half.rank()), layout.offset(half.rank() + 1)).contiguous();
  ht::Spectral model({.n_clusters = 2});
  const auto labels = model.fit_predict(ht::from_local(mine, {.split = 0, .comm = half}));
  CHECK(at::bincount(gathered(labels)).min().item<std::int64_t>() == 50);
}

// Results of scikit-learn 1.9.1, affinity="nearest_neighbors": 5 neighbors .74453, 10 .75920.
TEST_CASE("spectral clusters of the graph of nearest neighbors are scikit-learn's", "[ml][spectral]") {
  for (const auto& [neighbors, expected] : {std::pair{5, 0.7445264308738749}, {10, 0.7591987071071522}})
    for (const auto& x : {iris(), (iris() + 1e4).to(at::kFloat)})
      for (const auto& layout : every_layout({150, 4})) {
        ht::Spectral model(
            {.n_clusters = 3, .metric = ht::SpectralMetric::nearest_neighbors, .n_neighbors = neighbors});
        const auto labels = model.fit_predict(distribute(x, layout));
        // The rounding of float32 makes other rows as near as the last neighbor.
        const auto margin = x.scalar_type() == at::kFloat ? 0.02 : 1e-12;
        CHECK(agreement(labels, species()) == Approx(expected).margin(margin));
        CHECK(labels.split() == (layout.split() ? std::optional(0) : std::nullopt));
        CHECK(gathered(model.eigenvalues())[1].item<double>() == Approx(0).margin(1e-12));  // two parts
        CHECK(model.embedding().shape() == ht::Shape{150, 3});
      }
}

TEST_CASE("a sparse graph that is given has the clusters of its Laplacian", "[ml][spectral]") {
  const auto x = iris();
  const auto dense = at::exp(-at::cdist(x, x, 2, 2).square());
  const auto graph = at::where(dense > 0.2, dense, 0.0);
  const auto degrees = graph.sum(1) - 1, root = degrees.rsqrt();
  const auto laplacian = at::eye(150, at::kDouble) - root.unsqueeze(1) * (graph - at::eye(150, at::kDouble)) * root;
  const auto [values, vectors] = at::linalg_eigh(laplacian);
  for (const auto& layout : row_layouts({150, 150})) {
    ht::Spectral model({.n_clusters = 3});
    const auto labels = gathered(model.fit_predict(sparse_of(graph, layout)));
    CHECK(close(model.eigenvalues(), values.slice(0, 0, 3), 1e-12));
    const auto y = gathered(model.embedding()) * degrees.sqrt().unsqueeze(1);
    CHECK(near_to(at::mm(laplacian, y), y * values.slice(0, 0, 3), 0, 1e-9));
    CHECK(model.labels().split() == layout.split());
    // Weights in one direction only, in float32, and only some of them: the mean of both directions counts.
    ht::Spectral one_way({.n_clusters = 3});
    const auto half = (2 * graph.triu(1)).to(at::kFloat);
    CHECK(agreement(one_way.fit_predict(sparse_of(half, layout)), labels) == 1);
  }
  const auto rows = even(rings(100));
  const auto near = ht::radius_neighbors_graph(rows, 0.2);
  const auto ring = at::arange(200, at::kLong).floor_divide(100);
  CHECK(agreement(ht::Spectral({.n_clusters = 2}).fit_predict(near), ring) == 1);
  ht::Spectral by_gap;
  const auto kinds = at::arange(150, at::kLong).remainder(3);
  CHECK(agreement(by_gap.fit_predict(ht::radius_neighbors_graph(even(blobs(50, 1)), 1)), kinds) == 1);
  CHECK(by_gap.n_clusters() == 3);
}

TEST_CASE("a vertex without edges, and matrices that are no graph of weights", "[ml][spectral]") {
  auto graph = at::zeros({7, 7}, at::kDouble);
  graph.slice(0, 0, 3).slice(1, 0, 3) = 1;
  graph.slice(0, 3, 6).slice(1, 3, 6) = 2;
  for (const auto& layout : row_layouts({7, 7})) {
    ht::Spectral model({.n_clusters = 3});
    CHECK(agreement(model.fit_predict(sparse_of(graph, layout)), at::tensor({0, 0, 0, 1, 1, 1, 2}, at::kLong)) == 1);
    auto wrong = graph.clone();
    wrong[4][5] = -3;
    CHECK_THROWS_WITH(model.fit(sparse_of(wrong, layout)),
                      Contains("[Spectral.fit] got the weight -3 in row 4, column 5"));
    wrong[4][5] = INFINITY;
    CHECK_THROWS_WITH(model.fit(sparse_of(wrong, layout)), Contains("got the weight inf in row 4"));
    CHECK_THROWS_AS(model.fit(sparse_of(graph.to(at::kComplexDouble), layout)), ht::TypeError);
    CHECK_THROWS_WITH(ht::Spectral({.n_clusters = 8}).fit(sparse_of(graph, layout)), Contains("got 8 clusters of 7"));
  }
  CHECK_THROWS_WITH(ht::Spectral({.n_clusters = 2}).fit(sp::from_dense(ht::ones({3, 2}))), Contains("square"));
  CHECK_THROWS_WITH(ht::Spectral({.n_clusters = 2, .metric = ht::SpectralMetric::nearest_neighbors, .n_neighbors = 0})
                        .fit(even(iris())),
                    Contains("0 neighbors"));
  CHECK_THROWS_WITH(ht::Spectral({.n_clusters = 2, .metric = ht::SpectralMetric::nearest_neighbors, .n_neighbors = 151})
                        .fit(even(iris())),
                    Contains("got 151 neighbors of 150 rows"));
}

TEST_CASE("rows without spectral clusters are an error on all ranks", "[ml][spectral]") {
  auto x = iris();
  x[120][2] = NAN;
  for (const auto& layout : every_layout({150, 4}))
    CHECK_THROWS_WITH(ht::Spectral({.n_clusters = 3}).fit(distribute(x, layout)),
                      Contains("got nan in row 120, column 2"));
  const auto good = even(iris());
  CHECK_THROWS_WITH(ht::Spectral({.n_clusters = 151}).fit(good), Contains("got 151 clusters of 150 rows"));
  CHECK_THROWS_WITH(ht::Spectral({.n_clusters = 2, .gamma = 0}).fit(good), Contains("gamma 0"));
  CHECK_THROWS_AS(ht::Spectral().labels(), ht::NotFittedError);
}
