#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/log.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/linalg/solvers/krylov.hpp>
#include <heatpp/ml/detail/column_moments.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/ml/linear/detail/least_squares.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/sparse/elementwise.hpp>
#include <heatpp/sparse/product.hpp>

namespace heatpp::ml::detail {
namespace {

/// Returns the weighted mean of each target.
at::Tensor means_of(const char* op, const Rows& rows, const at::Tensor& targets,
                    const std::optional<at::Tensor>& roots) {
  const auto failure = heatpp::detail::failure_of([&] { check_targets(op, targets, rows.first()); });
  const auto w = roots ? roots->square() : at::ones({rows.count()}, at::kDouble);
  auto sums = at::cat({at::mv(targets.t(), w), w.sum().unsqueeze(0)});
  sum_over_ranks(rows, sums, failure);
  return sums.slice(0, 0, -1) / sums[-1];
}

/// Returns the operator of rows minus their mean, times the roots of their weights.
linalg::LinearOperator centered(const sparse::DCSRMatrix& a, const DNDarray& mean,
                                const std::optional<DNDarray>& roots) {
  const auto weighted = [roots](const DNDarray& u) { return roots ? u * *roots : u; };
  return {a.shape(), [=](const DNDarray& v) { return weighted(sparse::matmul(a, v) - sum(mean * v)); },
          [=](const DNDarray& u) {
            const auto w = weighted(u);
            return sparse::rmatmul(a, w) - mean * sum(w);
          },
          float64};
}

at::Tensor solved(const char* op, const linalg::LinearOperator& a, const DNDarray& b, double alpha) {
  linalg::KrylovOptions options{.rtol = 1e-13, .max_iterations = 10 * std::min(a.shape[0], a.shape[1]) + 100};
  const linalg::LinearOperator normal(
      {a.shape[1], a.shape[1]}, [&](const DNDarray& v) { return a.apply_adjoint(a.apply(v)) + v * alpha; }, {},
      float64);
  const auto found =
      alpha > 0 ? linalg::solve_cg(normal, a.apply_adjoint(b), options) : linalg::solve_lsqr(a, b, options);
  if (!found.converged)
    log(LogLevel::warning,
        heatpp::detail::formatted(
            "[{}] got a gradient that {} steps leave above {:g} of what it might be; expected columns of scales "
            "nearer to each other, or a larger alpha",
            op, found.iterations, options.rtol));
  return resplit(found.x, std::nullopt).larray();
}

}  // namespace

Plane sparse_least_squares(const char* op, const Rows& rows, const Targets& targets,
                           const LeastSquaresOptions& options) {
  const auto columns = column_moments(op, rows, options.weights);
  auto mean = at::zeros({rows.features()}, at::kDouble);
  for (std::size_t j = 0; options.intercept && j < columns.size(); ++j) mean.data_ptr<double>()[j] = columns[j].mean;
  std::optional<at::Tensor> roots;
  if (options.weights) roots = at::from_blob(const_cast<double*>(options.weights), {rows.count()}, at::kDouble).sqrt();
  auto target_means = means_of(op, rows, targets.values, roots);
  if (!options.intercept) target_means.zero_();
  const auto a = centered(sparse::astype(*sparse_rows(rows), float64), replicated(mean, float64, rows.comm()),
                          roots ? std::optional(as_rows(rows, *roots)) : std::nullopt);
  auto coef = at::empty({targets.values.size(1), rows.features()}, at::kDouble);
  for (std::int64_t t = 0; t < coef.size(0); ++t) {
    auto b = targets.values.select(1, t) - target_means[t];
    if (roots) b = b * *roots;
    coef[t].copy_(solved(op, a, as_rows(rows, b.contiguous()), options.alpha));
  }
  return {coef, target_means - at::mv(coef, mean)};
}

}  // namespace heatpp::ml::detail
