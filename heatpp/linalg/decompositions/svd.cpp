#include <heatpp/linalg/decompositions/svd.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>
#include <heatpp/linalg/decompositions/detail/jacobi.hpp>
#include <heatpp/linalg/decompositions/detail/named.hpp>
#include <heatpp/linalg/decompositions/detail/tall.hpp>
#include <heatpp/linalg/decompositions/qr.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

namespace heatpp::linalg {
namespace {

using detail::cut_along;
using detail::replicated;

/// Returns the conjugate transpose, with contiguous rows.
DNDarray adjoint(const DNDarray& x) {
  const auto view = detail::adjoint(x);
  return detail::wrap(view.larray().contiguous(), view.layout(), x.comm());
}

auto on_every_block(const char* op, const DNDarray& x) {
  return detail::on_blocks(op, x,
                           [](const at::Tensor& blocks) { return at::linalg_svd(blocks, /*full_matrices=*/false); });
}

DNDarray values_of_blocks(const char* op, const DNDarray& x) {
  const auto values = [](const at::Tensor& blocks) { return at::linalg_svdvals(blocks); };
  return detail::stack_like(x, detail::on_blocks(op, x, values));
}

SVD of_tall(const char* op, const DNDarray& x) {
  const auto rows = cut_along(x, 0);
  const auto [q, r] = detail::tall_qr(rows);
  const auto [u, s, vh] = on_every_block(op, replicated(r, x.comm()));
  const auto left = detail::wrap(at::mm(q, u), rows.layout(), x.comm());
  return {cut_along(left, *x.split()), replicated(s, x.comm()), replicated(vh, x.comm())};
}

at::Tensor gathered_lengths(const DNDarray& columns) {
  const auto lengths = at::linalg_vector_norm(columns.larray(), 2, {0}).contiguous();
  const auto& layout = columns.layout();
  const auto cut = layout.with({layout.shape()[1]}, 0);
  return detail::relayout(detail::wrap(lengths, cut, columns.comm()), cut.replicated(cut.shape()));
}

/// Decomposes x (m, n) with m >= n. The rotated columns are long and orthogonal, or short and arbitrary: their QR
/// decomposition has orthonormal columns in both cases.
SVD of_square(const char* op, const DNDarray& x) {
  const auto [w, v, scale] = detail::orthogonalise_columns(op, x, detail::Lengths::falling);
  const auto [q, r] = qr(w);
  const auto diagonal = r.larray().diagonal(-w.layout().offset(x.comm().rank()));
  const auto phases = at::where(diagonal == 0, at::ones_like(diagonal), diagonal.sgn());
  const auto u = detail::wrap(q.larray() * phases, q.layout(), x.comm());
  return {u, replicated(gathered_lengths(w) * scale, x.comm()), adjoint(v)};
}

SVD svd_of_cut_matrix(const char* op, const DNDarray& x) {
  if (x.shape()[0] < x.shape()[1]) {
    auto [u, s, vh] = svd_of_cut_matrix(op, adjoint(x));
    return {adjoint(vh), s, adjoint(u)};
  }
  return detail::is_tall(x) ? of_tall(op, x) : of_square(op, x);
}

SVD reduced(const char* op, const DNDarray& x) {
  const auto values = detail::decomposable(x);
  if (!detail::is_local(values)) return svd_of_cut_matrix(op, values);
  const auto [u, s, vh] = on_every_block(op, values);
  return {detail::stack_like(values, u), detail::stack_like(values, s), detail::stack_like(values, vh)};
}

/// Returns orthonormal columns, completed to as many as there are rows.
DNDarray completed(const DNDarray& columns) {
  const auto q = qr(columns, QrMode::complete).q;
  return concatenate({columns, q.index({ellipsis, slice(columns.shape().back(), std::nullopt)})}, -1);
}

}  // namespace

SVD svd(const DNDarray& x, const SvdOptions& options) { return detail::named::svd("svd", x, options); }

Polar polar(const DNDarray& x) {
  detail::check_matrices("polar", x);
  if (x.shape()[x.shape().size() - 2] < x.shape().back())
    detail::raise<ValueError>("polar", "got an array of shape {}; expected at least as many rows as columns",
                              to_string(x.shape()));
  const auto [u, s, vh] = detail::named::svd("polar", x);
  const auto stretched = detail::adjoint(vh) * expand_dims(s, -2);
  return {matmul(u, vh), matmul(stretched, vh)};
}

DNDarray svdvals(const DNDarray& x) { return detail::named::svdvals("svdvals", x); }

}  // namespace heatpp::linalg

namespace heatpp::detail {

linalg::SVD named::svd(const char* op, const DNDarray& x, const linalg::SvdOptions& options) {
  check_matrices(op, x);
  auto [u, s, vh] = linalg::reduced(op, one_cut(op, x));
  if (!options.full_matrices) return {u, s, vh};
  return {linalg::completed(u), s, matrix_transpose(linalg::completed(matrix_transpose(vh)))};
}

DNDarray named::svdvals(const char* op, const DNDarray& x) {
  check_matrices(op, x);
  const auto values = decomposable(one_cut(op, x));
  if (is_local(values)) return linalg::values_of_blocks(op, values);
  const auto matrix = x.shape()[0] < x.shape()[1] ? linalg::adjoint(values) : values;
  if (is_tall(matrix)) {
    const auto [q, r] = tall_qr(cut_along(matrix, 0));
    return linalg::values_of_blocks(op, replicated(r, x.comm()));
  }
  const auto [w, v, scale] = orthogonalise_columns(op, matrix, Lengths::falling);
  return replicated(linalg::gathered_lengths(w) * scale, x.comm());
}

}  // namespace heatpp::detail
