#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/linalg/solvers/iterative.hpp>
#include <heatpp/ml/cluster/spectral.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/pieces.hpp>
#include <heatpp/ml/detail/row_random.hpp>
#include <heatpp/ml/neighbors/spatial.hpp>

#include <cmath>

namespace heatpp {
namespace {

using namespace ml::detail;
constexpr auto op = "Spectral.fit";

void check_options(const SpectralOptions& o, const Rows& x) {
  const auto k = o.n_clusters.value_or(1);
  if (k < 1 || k > x.size() || x.features() < 1 || !(o.gamma > 0) || !std::isfinite(o.gamma) || o.n_init < 1 ||
      o.lanczos_iterations < k || !std::isfinite(o.threshold))
    detail::raise<ValueError>(
        op,
        "got {} clusters of {} rows of {} features, gamma {}, threshold {}, n_init {} and {} "
        "iterations of Lanczos; expected 1 <= clusters <= rows, features and n_init >= 1, gamma > "
        "0, a finite threshold, and as many iterations as clusters",
        k, x.size(), x.features(), o.gamma, o.threshold, o.n_init, o.lanczos_iterations);
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

/// A vector without a pattern to start from: the eigenvectors of graphs have patterns.
DNDarray start_of(const Rows& x, std::uint64_t seed) {
  const RowRandom random(seed, 0);
  auto start = at::empty({x.count()}, at::kDouble);
  for (std::int64_t i = 0; i < x.count(); ++i) start.data_ptr<double>()[i] = random.uniform(x.first() + i) - 0.5;
  return as_rows(x, start);
}

/// How many eigenvalues lie before the widest gap of the first ones.
std::int64_t before_gap(const at::Tensor& values) {
  const auto some = values.slice(0, 0, std::min<std::int64_t>(values.size(0), 31));
  return some.size(0) < 2 ? 1 : (some.slice(0, 1) - some.slice(0, 0, -1)).argmax().item<std::int64_t>() + 1;
}

}  // namespace

Spectral& Spectral::fit(const Rows& x) {
  check_options(options_, x);
  static_cast<void>(summed(x, 0, [&](const auto& piece, std::span<double>) { check_finite(op, x, piece); }));
  const auto [matrix, degrees] = laplacian_of(options_).construct_with_degrees(x);
  const auto found = linalg::lanczos(matrix.astype(float64), std::min(options_.lanczos_iterations, x.size()),
                                     start_of(x, options_.seed));
  const auto [values, vectors] = at::linalg_eigh(found.t.larray());
  const auto k = options_.n_clusters ? *options_.n_clusters : before_gap(values);
  const auto mine = detail::relayout_operand(
      op, found.v, x.layout().with({x.size(), found.t.shape()[0]}, x.layout().split()), x.comm());
  const auto roots = at::where(degrees.larray() > 0, degrees.larray().sqrt(), 1.0).unsqueeze(1);
  const auto embedding = as_rows(x, (at::matmul(mine, vectors.slice(1, 0, k)) / roots).contiguous());
  KMeans clusters({.n_clusters = k, .n_init = options_.n_init, .seed = options_.seed});
  learnt_ = Learnt{clusters.fit_predict(embedding), embedding, replicated(values.slice(0, 0, k), float64, x.comm())};
  return *this;
}

const Spectral::Learnt& Spectral::learnt(const char* name) const { return fitted(name, learnt_); }
const DNDarray& Spectral::labels() const { return learnt("Spectral.labels").labels; }
const DNDarray& Spectral::embedding() const { return learnt("Spectral.embedding").embedding; }
const DNDarray& Spectral::eigenvalues() const { return learnt("Spectral.eigenvalues").eigenvalues; }
std::int64_t Spectral::n_clusters() const { return eigenvalues().size(); }

}  // namespace heatpp
