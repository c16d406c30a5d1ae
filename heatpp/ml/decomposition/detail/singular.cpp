#include <heatpp/ml/decomposition/detail/singular.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/linalg/solvers/eigensolvers.hpp>
#include <heatpp/ml/decomposition/detail/affine.hpp>
#include <heatpp/ml/decomposition/detail/sketch.hpp>
#include <heatpp/ml/detail/gram.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/sparse/elementwise.hpp>

namespace heatpp::ml::detail {
namespace {

void check_options(const char* op, const TruncatedSvdOptions& o, const Rows& x) {
  if (o.n_components < 1 || o.n_components > std::min(x.size(), x.features()) || o.oversamples < 0 ||
      o.power_iterations < 0)
    heatpp::detail::raise<ValueError>(
        op,
        "got {} components of {} rows of {} features, {} more directions and {} power iterations; "
        "expected 1 <= components <= rows and features, and numbers that are not negative",
        o.n_components, x.size(), x.features(), o.oversamples, o.power_iterations);
}

/// Returns the variances of x v' for the rows x.
at::Tensor variances_along(const Rows& x, const at::Tensor& v, const at::Tensor& mean) {
  const auto count = v.size(0);
  const auto columns = v.t().contiguous();
  const auto along_mean = at::mv(v, mean);
  Totals totals(static_cast<std::size_t>(count));
  const auto failure = heatpp::detail::failure_of([&] {
    for_row_blocks(x, [&](const RowBlock& block, int thread) {
      auto z = block.about(mean).times(columns);
      if (block.is_sparse()) z -= along_mean;
      at::from_blob(totals.of(thread).data(), {count}, at::kDouble).add_(z.square().sum(0));
    });
  });
  auto sums = totals.over_ranks(x, failure);
  return at::from_blob(sums.data(), {count}, at::kDouble) / static_cast<double>(x.size());
}

Singular by_products(const char* op, const Rows& x, std::int64_t count) {
  const auto [n, mean, scatter] = gram(op, x);
  const auto [squares, columns] = at::linalg_eigh(scatter + n * at::outer(mean, mean));
  const auto v = columns.t().flip(0).slice(0, 0, count);
  return {squares.flip(0).clamp_min(0).sqrt().slice(0, 0, count), v, (at::mm(v, scatter) * v).sum(1).clamp_min(0) / n,
          scatter.trace().item<double>() / n};
}

/// Finds the vectors of a sparse matrix by the Lanczos process.
RightVectors of_matrix(const char* op, const sparse::DCSRMatrix& a, std::int64_t count) {
  const auto found = linalg::svds(sparse::astype(a, float64), count);
  if (!found.converged)
    heatpp::detail::raise<Error>(op, "got {} singular values that have not converged after {} products; expected fewer",
                                 count, found.iterations);
  return {found.s.larray(), resplit(found.vh, std::nullopt).larray()};
}

Singular by_rows(const char* op, const Rows& x, const TruncatedSvdOptions& o, SvdSolver solver) {
  const auto columns = column_moments(op, x);
  const auto mean = of_columns(columns, &Moments::mean);
  const auto squares = of_columns(columns, &Moments::m2).sum().item<double>();
  const auto origin = at::zeros({x.features()}, at::kDouble);
  const auto [s, v] = solver == SvdSolver::automatic ? of_matrix(op, *sparse_rows(x), o.n_components)
                      : solver == SvdSolver::full
                          ? right_vectors(row_factor(x, origin))
                          : sketched(x, origin, {o.n_components, o.oversamples, o.power_iterations, o.seed});
  const auto kept = v.slice(0, 0, o.n_components);
  return {s.slice(0, 0, o.n_components), kept, variances_along(x, kept, mean), squares / static_cast<double>(x.size())};
}

}  // namespace

Singular singular(const char* op, const Rows& x, const TruncatedSvdOptions& options) {
  check_options(op, options, x);
  const bool few = x.features() <= few_features;
  const auto solver = options.solver != SvdSolver::automatic || sparse_rows(x) ? options.solver
                      : few                                                    ? SvdSolver::gram
                                                                               : SvdSolver::randomized;
  return solver == SvdSolver::gram ? by_products(op, x, options.n_components) : by_rows(op, x, options, solver);
}

}  // namespace heatpp::ml::detail
