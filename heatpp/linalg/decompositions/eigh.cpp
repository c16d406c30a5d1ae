#include <heatpp/linalg/decompositions/eigh.hpp>

#include <heatpp/core/detail/ownership.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>
#include <heatpp/linalg/decompositions/detail/jacobi.hpp>
#include <heatpp/linalg/decompositions/detail/named.hpp>
#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

namespace heatpp::linalg {
namespace {

const char* letter(Triangle uplo) { return uplo == Triangle::lower ? "L" : "U"; }

/// Returns the largest mean of |x| in a row or column; n times this bounds the eigenvalues.
double largest_mean(const DNDarray& x) {
  const auto across = *x.split() == 0 ? 1 : 0;
  const auto n = static_cast<double>(x.shape()[0]);
  std::array<double, 1> mean{0};
  if (x.larray().numel() > 0) mean[0] = x.larray().abs().div_(n).sum(across).max().item<double>();
  x.comm().allreduce(mean, ReduceOp::max);
  return mean[0];
}

/// Returns x / scale + shift * identity.
DNDarray shifted(const DNDarray& x, double scale, double shift) {
  auto block = (x.larray() / scale).contiguous();
  const auto first = x.layout().offset(x.comm().rank());
  block.diagonal(*x.split() == 0 ? first : -first).add_(shift);
  return detail::wrap(std::move(block), x.layout(), x.comm());
}

/// Returns the triangle that is read, without `missing` of its diagonals; the other one may hold anything.
DNDarray triangle(const DNDarray& x, Triangle uplo, int missing = 0) {
  return uplo == Triangle::lower ? tril(x, -missing) : triu(x, missing);
}

/// Returns the Hermitian matrix of a triangle.
DNDarray completed(const DNDarray& x, Triangle uplo) {
  const auto strict = triangle(x, uplo, 1);
  auto result = strict + detail::brought_to(conj(transpose(strict)), strict.layout());
  auto line = detail::written_through(diagonal(result));
  line.index_put({all_of}, real(diagonal(x)));
  return result;
}

Eigen eigen_of_cut_matrix(const char* op, const DNDarray& x) {
  const auto mean = largest_mean(x), size = detail::power_of_2(mean, x.dtype());
  const auto shift = static_cast<double>(x.shape()[0]) * (mean / size);
  const auto [w, v, scale] = detail::orthogonalise_columns(op, shifted(x, size, shift), detail::Lengths::rising);
  const auto values = (at::real((v.larray().conj() * w.larray()).sum(0)) * scale - shift) * size;
  const auto cut = v.layout().with({x.shape()[0]}, 0);
  const auto all = detail::relayout(detail::wrap(values.contiguous(), cut, x.comm()), cut.replicated(cut.shape()));
  return {detail::replicated(all, x.comm()), v};
}

}  // namespace

Eigen eigh(const DNDarray& x, Triangle uplo) { return detail::named::eigh("eigh", x, uplo); }

DNDarray eigvalsh(const DNDarray& x, Triangle uplo) {
  detail::check_matrices("eigvalsh", x, true);
  const auto matrices = detail::decomposable(detail::one_cut("eigvalsh", x));
  if (!detail::is_local(matrices)) return eigen_of_cut_matrix("eigvalsh", completed(matrices, uplo)).values;
  const auto values = [&](const at::Tensor& blocks) { return at::linalg_eigvalsh(blocks, letter(uplo)); };
  return detail::stack_like(matrices, detail::on_blocks("eigvalsh", triangle(matrices, uplo), values));
}

}  // namespace heatpp::linalg

namespace heatpp::detail {

linalg::Eigen named::eigh(const char* op, const DNDarray& x, linalg::Triangle uplo) {
  check_matrices(op, x, true);
  const auto matrices = decomposable(one_cut(op, x));
  if (!is_local(matrices)) return linalg::eigen_of_cut_matrix(op, linalg::completed(matrices, uplo));
  const auto [values, vectors] = on_blocks(op, linalg::triangle(matrices, uplo), [&](const at::Tensor& blocks) {
    return at::linalg_eigh(blocks, linalg::letter(uplo));
  });
  return {stack_like(matrices, values), stack_like(matrices, vectors)};
}

}  // namespace heatpp::detail
