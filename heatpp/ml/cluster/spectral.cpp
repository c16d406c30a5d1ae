#include <heatpp/ml/cluster/spectral.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/solvers/eigensolvers.hpp>
#include <heatpp/linalg/solvers/iterative.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/cluster.hpp>
#include <heatpp/ml/detail/row_random.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/ml/neighbors/graph.hpp>
#include <heatpp/ml/neighbors/spatial.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/sparse/detail/impl.hpp>
#include <heatpp/sparse/elementwise.hpp>
#include <heatpp/sparse/graph.hpp>
#include <heatpp/sparse/product.hpp>
#include <heatpp/sparse/reductions.hpp>

#include <cmath>

namespace heatpp {
namespace {

using namespace ml::detail;
constexpr auto op = "Spectral.fit";

constexpr std::int64_t most_for_gap = 31;  ///< eigenvalues among which the widest gap is searched

void check_options(const SpectralOptions& o, std::int64_t rows, std::int64_t features) {
  const auto k = o.n_clusters.value_or(1);
  if (k < 1 || k > rows || features < 1 || !(o.gamma > 0) || !std::isfinite(o.gamma) || o.n_init < 1 ||
      o.lanczos_iterations < k || !std::isfinite(o.threshold) || o.n_neighbors < 1)
    detail::raise<ValueError>(
        op,
        "got {} clusters of {} rows of {} features, gamma {}, threshold {}, {} neighbors, n_init {} and {} "
        "iterations of Lanczos; expected 1 <= clusters <= rows, features, neighbors and n_init >= 1, gamma > "
        "0, a finite threshold, and as many iterations as clusters",
        k, rows, features, o.gamma, o.threshold, o.n_neighbors, o.n_init, o.lanczos_iterations);
}

/// Throws ValueError for invalid weights. Collective.
void check_weights(const sparse::DCSRMatrix& affinity) {
  if (is_complex(affinity.dtype()))
    detail::raise<TypeError>(op, "got weights of {}; expected real ones", name(affinity.dtype()));
  sparse::detail::check_square(op, affinity);
  const auto weights = affinity.values().larray().to(at::kDouble);
  const auto bad = (weights.isfinite().logical_not() | (weights < 0)).nonzero();
  all_or_none(affinity.comm(), [&] {
    if (bad.numel() == 0) return;
    const auto at = bad[0].item<std::int64_t>();
    const auto ends = affinity.row_ptr().subspan(1);
    const auto row = std::ranges::upper_bound(ends, at) - ends.begin() + sparse::detail::first_row(affinity);
    detail::raise<ValueError>(op, "got the weight {} in row {}, column {}; expected finite ones of 0 or more",
                              weights[at].item<double>(), row,
                              affinity.column_indices().larray()[at].item<std::int64_t>());
  });
}

graph::Laplacian laplacian_of(const SpectralOptions& o) {
  if (o.metric == SpectralMetric::euclidean)
    return graph::Laplacian([](const Rows& rows) { return spatial::cdist(rows); },
                            {.weighted = false,
                             .mode = graph::LaplacianMode::e_neighbour,
                             .threshold_key = graph::LaplacianBoundary::upper,
                             .threshold_value = o.threshold});
  const auto sigma = std::sqrt(0.5 / o.gamma);
  return graph::Laplacian([sigma](const Rows& rows) { return spatial::rbf(rows, {.sigma = sigma}); },
                          {.mode = o.laplacian, .threshold_key = o.boundary, .threshold_value = o.threshold});
}

/// Returns a start vector without a pattern, since the eigenvectors of graphs have patterns.
DNDarray start_of(const Layout& rows, const Communicator& comm, std::uint64_t seed) {
  const RowRandom random(seed, 0);
  const auto first = rows.split() ? rows.offset(comm.rank()) : 0;
  auto start = at::empty({rows.local_shape(comm.rank())[0]}, at::kDouble);
  for (std::int64_t i = 0; i < start.numel(); ++i) start.data_ptr<double>()[i] = random.uniform(first + i) - 0.5;
  return detail::wrap(start, rows.with({rows.shape()[0]}, rows.split()), comm);
}

/// Returns the number of eigenvalues before the widest gap of the first ones.
std::int64_t before_gap(const at::Tensor& values) {
  const auto some = values.slice(0, 0, most_for_gap);
  return some.size(0) < 2 ? 1 : (some.slice(0, 1) - some.slice(0, 0, -1)).argmax().item<std::int64_t>() + 1;
}

/// Turns eigenvectors of the symmetric Laplacian into those of D^-1 L: divides by the roots of the degrees.
at::Tensor over_roots(const at::Tensor& vectors, const DNDarray& degrees) {
  const auto d = degrees.larray();
  return (vectors / at::where(d > 0, d.sqrt(), 1.0).unsqueeze(1)).contiguous();
}

}  // namespace

Spectral& Spectral::fit(const Rows& x) {
  check_agreed(op, x, options_);
  check_options(options_, x.size(), x.features());
  if (options_.metric == SpectralMetric::nearest_neighbors)
    return fit(kneighbors_graph(x, options_.n_neighbors, {.include_self = true}));
  check_all_finite(op, x);
  const auto [matrix, degrees] = laplacian_of(options_).construct_with_degrees(x);
  const auto found = linalg::lanczos(matrix.astype(float64), std::min(options_.lanczos_iterations, x.size()),
                                     start_of(x.layout(), x.comm(), options_.seed));
  const auto [values, vectors] = at::linalg_eigh(found.t.larray());
  const auto mine = detail::relayout_operand(
      op, found.v, x.layout().with({x.size(), found.t.shape()[0]}, x.layout().split()), x.comm());
  const auto k = options_.n_clusters ? *options_.n_clusters : before_gap(values);
  learn(as_rows(x, over_roots(at::matmul(mine, vectors.slice(1, 0, k)), degrees)),
        replicated(values.slice(0, 0, k), float64, x.comm()));
  return *this;
}

Spectral& Spectral::fit(const sparse::DCSRMatrix& affinity) {
  check_agreed(op, affinity, options_);
  check_options(options_, affinity.rows(), affinity.columns());
  check_weights(affinity);
  const auto n = affinity.rows();
  const auto given = sparse::astype(affinity, float64);
  const auto weights = (given + sparse::transpose(given)) / 2.0;
  const auto found = linalg::eigsh(
      sparse::laplacian(weights, {.normalized = true}),
      options_.n_clusters ? *options_.n_clusters : std::min(n, most_for_gap),
      {.which = linalg::Which::smallest, .v0 = start_of(weights.layout(), weights.comm(), options_.seed)});
  if (!found.converged)
    detail::raise<Error>(op, "got no eigenvectors of the Laplacian in {} iterations; expected another graph",
                         found.iterations);
  const auto k = options_.n_clusters ? *options_.n_clusters : before_gap(found.values.larray());
  const auto degrees = sparse::sum(weights, 1) - sparse::diagonal(weights);
  const auto embedding = over_roots(found.vectors.larray().slice(1, 0, k), degrees);
  learn(detail::wrap(embedding, weights.layout().with({n, k}, weights.split()), weights.comm()),
        replicated(found.values.larray().slice(0, 0, k), float64, weights.comm()));
  return *this;
}

void Spectral::learn(const DNDarray& embedding, const DNDarray& eigenvalues) {
  KMeans clusters({.n_clusters = eigenvalues.size(), .n_init = options_.n_init, .seed = options_.seed});
  fitted_ = Fitted{clusters.fit_predict(embedding), embedding, eigenvalues};
}

const Spectral::Fitted& Spectral::fitted_state(const char* name) const { return fitted(name, fitted_); }
const DNDarray& Spectral::labels() const { return fitted_state("Spectral.labels").labels; }
const DNDarray& Spectral::embedding() const { return fitted_state("Spectral.embedding").embedding; }
const DNDarray& Spectral::eigenvalues() const { return fitted_state("Spectral.eigenvalues").eigenvalues; }
std::int64_t Spectral::n_clusters() const { return fitted_state("Spectral.n_clusters").eigenvalues.size(); }

}  // namespace heatpp
