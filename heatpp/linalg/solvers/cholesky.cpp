#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>
#include <heatpp/linalg/solvers/detail/grid_factor.hpp>

namespace heatpp::linalg {

DNDarray cholesky(const DNDarray& array, const CholeskyOptions& options) {
  detail::check_matrices("cholesky", array, true);
  if (detail::is_on_grid(array)) {
    const auto matrix = array.astype(detail::decomposition_type(array.dtype()));
    if (!options.upper) return detail::cholesky_on_grid(matrix);
    return detail::adjoint_on_grid(detail::cholesky_on_grid(detail::adjoint_on_grid(matrix)));
  }
  const auto a = detail::one_cut("cholesky", array);
  if (options.upper) return detail::adjoint(cholesky(detail::adjoint(a)));
  const auto matrix = detail::decomposable(a);
  const auto check = [](bool failed) {
    if (failed)
      detail::raise<LinAlgError>("cholesky", "got a matrix that is not positive definite; expected one that is");
  };
  if (detail::is_local(matrix)) {
    const auto [factor, info] = at::linalg_cholesky_ex(matrix.larray());
    const bool finite = at::isfinite(matrix.larray().tril()).all().item<bool>();
    std::array<std::int64_t, 1> failed{!finite || info.ne(0).any().item<bool>()};
    if (a.layout().is_cut()) a.comm().allreduce(failed, ReduceOp::max);
    check(failed[0]);
    return detail::stack_like(matrix, factor);
  }
  detail::Columns columns(matrix);
  const auto n = a.shape()[0];
  const bool finite = at::isfinite(columns.block().tril(-columns.first_column())).all().item<bool>();
  for (const auto& panel : columns.panels(n)) {
    at::Tensor factor, info;
    if (columns.owns(panel)) {
      auto mine = columns.columns(panel).slice(0, panel.first);
      at::Tensor corner;
      std::tie(corner, info) = at::linalg_cholesky_ex(mine.slice(0, 0, panel.count));
      mine.slice(0, 0, panel.count).copy_(corner);
      mine.slice(0, panel.count)
          .copy_(at::linalg_solve_triangular(corner.mH(), mine.slice(0, panel.count), /*upper=*/true, /*left=*/false));
      factor = mine;
      if (!finite) info.fill_(1);  // this tells all ranks
    }
    check(columns.broadcast(panel, info, {}, at::kInt).item<int>() != 0);
    factor = columns.broadcast(panel, factor, {n - panel.first, panel.count}, columns.block().scalar_type());
    auto behind = columns.behind(panel);
    if (behind.numel() == 0) continue;
    const auto first = columns.first_column() + columns.block().size(1) - behind.size(1);
    const auto below = factor.slice(0, first - panel.first);
    behind.slice(0, first).addmm_(below, below.slice(0, 0, behind.size(1)).mH(), 1, -1);
  }
  columns.block().tril_(-columns.first_column());
  const auto factor = columns.array();
  return detail::brought_to(factor, a.layout());
}

}  // namespace heatpp::linalg
