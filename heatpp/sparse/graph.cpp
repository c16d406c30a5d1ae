#include <heatpp/sparse/graph.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/sparse/construction.hpp>
#include <heatpp/sparse/detail/placed.hpp>
#include <heatpp/sparse/elementwise.hpp>
#include <heatpp/sparse/product.hpp>
#include <heatpp/sparse/reductions.hpp>

namespace heatpp::sparse {

using namespace detail;

namespace {

/// Removes the diagonal, in a floating dtype.
DCSRMatrix without_loops(const DCSRMatrix& a) {
  const auto first = first_row(a);
  auto block =
      filtered(block_of(a), [=](std::int64_t row, std::int64_t column, auto) { return column != first + row; });
  const auto edges = wrap(std::move(block), a.layout(), a.comm());
  return is_floating(a.dtype()) || is_complex(a.dtype()) ? edges : astype(edges, Dtype::float64);
}

/// Makes a matrix with these numbers on its diagonal, cut as they are.
DCSRMatrix on_diagonal(const DNDarray& numbers) {
  const auto n = numbers.size(), rows = numbers.larray().numel();
  const auto first = numbers.split() ? numbers.layout().offset(numbers.comm().rank()) : 0;
  return wrap(
      {at::arange(rows + 1, at::kLong), at::arange(first, first + rows, at::kLong), numbers.larray().contiguous()},
      numbers.layout().with({n, n}, numbers.split()), numbers.comm());
}

}  // namespace

DCSRMatrix laplacian(const DCSRMatrix& a, const LaplacianOptions& options) {
  check_square("laplacian", a);
  const auto edges = without_loops(a);
  const auto degrees = sum(edges, 1);
  if (!options.normalized) return on_diagonal(degrees) - edges;
  const auto has = degrees != 0;
  const auto scale = where(has, 1.0 / sqrt(where(has, degrees, 1.0)), 0.0).astype(edges.dtype());
  return on_diagonal(has.astype(edges.dtype())) - scale_columns(scale_rows(edges, scale), scale);
}

DNDarray pagerank(const DCSRMatrix& a, const PageRankOptions& o) {
  check_square("pagerank", a);
  const auto n = a.rows();
  if (n == 0 || !(o.damping >= 0 && o.damping < 1) || !(o.tol >= 0) || o.max_iterations < 1)
    raise<ValueError>("pagerank",
                      "got {} vertices, damping {}, tol {} and {} iterations; expected some vertices, 0 <= damping "
                      "< 1, tol >= 0 and iterations",
                      n, o.damping, o.tol, o.max_iterations);
  const auto weights = astype(a, Dtype::float64);
  if (weights.nnz() > 0 && min(weights.values()).item<double>() < 0)
    raise<ValueError>("pagerank", "got a negative weight; expected none");
  const auto out = sum(weights, 1);
  const auto dangling = out == 0;
  const auto steps = scale_rows(weights, 1.0 / where(dangling, 1.0, out));
  const auto even = a.split() ? std::optional(0) : std::nullopt;
  auto rank = full({n}, 1.0 / static_cast<double>(n), {.dtype = Dtype::float64, .split = even, .comm = a.comm()});
  const auto nowhere =
      even ? heatpp::resplit(balance(dangling), 0).astype(Dtype::float64) : dangling.astype(Dtype::float64);
  for (std::int64_t i = 0; i < o.max_iterations; ++i) {
    const auto lost = heatpp::sum(nowhere * rank).item<double>();
    const auto next = rmatmul(steps, rank) * o.damping + (o.damping * lost + 1 - o.damping) / static_cast<double>(n);
    const auto change = heatpp::sum(heatpp::abs(next - rank)).item<double>();
    rank = next;
    if (change <= o.tol) return rank;
  }
  raise<Error>("pagerank", "got no end within {} iterations; expected changes whose sum is at most {}",
               o.max_iterations, o.tol);
}

}  // namespace heatpp::sparse
