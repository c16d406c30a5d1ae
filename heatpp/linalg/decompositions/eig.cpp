#include <heatpp/linalg/decompositions/eig.hpp>

#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>

namespace heatpp::linalg {
namespace {

/// Returns matrices that ranks decompose; each rank has its matrices as a whole.
DNDarray whole_matrices(const char* op, const DNDarray& x) {
  detail::check_matrices(op, x, true);
  const auto matrices = detail::decomposable(detail::one_cut(op, x));
  if (detail::is_local(matrices)) return matrices;
  return detail::brought_to(matrices, matrices.layout().replicated(matrices.shape()));
}

}  // namespace

Eigen eig(const DNDarray& x) {
  const auto matrices = whole_matrices("eig", x);
  const auto [values, vectors] =
      detail::on_blocks("eig", matrices, [](const at::Tensor& blocks) { return at::linalg_eig(blocks); });
  return {detail::stack_like(matrices, values), detail::stack_like(matrices, vectors)};
}

DNDarray eigvals(const DNDarray& x) {
  const auto matrices = whole_matrices("eigvals", x);
  const auto values = [](const at::Tensor& blocks) { return at::linalg_eigvals(blocks); };
  return detail::stack_like(matrices, detail::on_blocks("eigvals", matrices, values));
}

}  // namespace heatpp::linalg
