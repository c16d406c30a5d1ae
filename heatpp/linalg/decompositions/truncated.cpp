#include <heatpp/linalg/decompositions/truncated.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>
#include <heatpp/linalg/decompositions/detail/named.hpp>
#include <heatpp/linalg/decompositions/detail/tall.hpp>
#include <heatpp/linalg/decompositions/qr.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

#include <ATen/CPUGeneratorImpl.h>
#include <algorithm>
#include <cmath>
#include <functional>

namespace heatpp::linalg {
namespace {

using detail::Length;
using detail::raise;

void check_matrix(const char* op, const DNDarray& x) {
  if (x.ndim() != 2) raise<ValueError>(op, "got an array of shape {}; expected a matrix", to_string(x.shape()));
}

/// Returns how many of the falling values, relative to the norm of all, leave at most `rest` of it.
std::int64_t needed(const at::Tensor& s, double rest) {
  auto left = s.square().flip(0).cumsum(0).sqrt();
  return (left > rest).sum().item<std::int64_t>();
}

/// Returns how many of the falling singular values to keep; they are relative to the norm of all.
using Keep = std::function<std::int64_t(const at::Tensor& parts)>;

/// Returns the singular values relative to the norm of all, in float64.
at::Tensor parts_of(const Length& length, const at::Tensor& s) {
  return length.relative > 0 ? s.to(at::kDouble) / length.scale / length.relative : s.to(at::kDouble);
}

/// Computes singular values and right vectors of many rows of float32 from the products of their columns in float64.
/// They are as accurate as the rows, because squaring loses only digits that float32 does not have, and nothing over-
/// or underflows.
std::pair<at::Tensor, at::Tensor> by_products(const at::Tensor& block) {
  constexpr std::int64_t rows = 1024;  // these stay in the cache while they are multiplied
  auto products = at::zeros({block.size(1), block.size(1)}, block.options().dtype(at::kDouble));
  for (std::int64_t first = 0; first < block.size(0); first += rows) {
    const auto part = block.slice(0, first, std::min(block.size(0), first + rows)).to(at::kDouble);
    products.addmm_(part.t(), part);
  }
  const auto [squares, vectors] = at::linalg_eigh(products);
  return {squares.flip(0).clamp_min(0).sqrt(), vectors.t().flip(0)};
}

/// Returns diag(s) vh of a block of rows, cut to the values that `keep` counts.
at::Tensor local_factor(const at::Tensor& block, const Length& length, const Keep& keep) {
  at::Tensor s, vh;
  const bool tall = block.size(0) > block.size(1);
  if (tall && block.scalar_type() == at::kFloat) {
    std::tie(s, vh) = by_products(block);
  } else {
    auto triangle = block;
    if (tall) {
      const Shape shape(block.sizes().begin(), block.sizes().end());
      triangle = detail::tall_qr(detail::wrap(block, Layout(shape, 0, 1), self())).r;
    }
    std::tie(std::ignore, s, vh) = at::linalg_svd(triangle, /*full_matrices=*/false);
  }
  const auto count = std::min<std::int64_t>(keep(parts_of(length, s)), s.size(0));
  return (s.narrow(0, 0, count).unsqueeze(1) * vh.narrow(0, 0, count)).to(block.scalar_type());
}

/// Returns the rows of all ranks.
at::Tensor gathered_rows(const at::Tensor& rows, const Communicator& comm) {
  auto counts = comm.allgather(rows.size(0));
  std::int64_t total = 0;
  for (auto& count : counts) {
    total += count;
    count *= rows.size(1);
  }
  const auto mine = rows.cpu().contiguous(), all = at::empty({total, rows.size(1)}, mine.options());
  comm.allgather(detail::buffer_of(mine), detail::buffer_of(all), counts);
  return all.to(rows.device());
}

/// Decomposes a matrix that is cut by rows. `keep_local` and `keep` count the values to keep.
HSVD by_rows(const char* op, const DNDarray& x, const Keep& keep_local, const Keep& keep) {
  const auto length = detail::length_of(op, x);
  const auto& comm = x.comm();
  at::Tensor factor;
  all_or_none(comm, [&] { factor = local_factor(x.larray(), length, keep_local); });
  const auto [u, s, vh] = at::linalg_svd(gathered_rows(factor, comm), /*full_matrices=*/false);
  const auto parts = parts_of(length, s);
  const auto count = std::min<std::int64_t>(keep(parts), s.size(0));
  const auto values = s.narrow(0, 0, count), vectors = vh.narrow(0, 0, count);
  const auto left = at::mm(x.larray(), vectors.mH() / values.clamp_min(finfo(x.dtype()).tiny));
  const auto missing = 1 - parts.narrow(0, 0, count).square().sum().item<double>();
  return {detail::wrap(left, x.layout().with({x.shape()[0], count}, 0), comm), detail::replicated(values, comm),
          detail::replicated(vectors, comm), length.relative > 0 ? std::sqrt(std::max(0.0, missing)) : 0};
}

HSVD hierarchical(const char* op, const DNDarray& array, const Keep& keep_local, const Keep& keep) {
  check_matrix(op, array);
  const auto x = detail::one_cut(op, array);
  const auto values = x.astype(detail::decomposition_type(x.dtype()));
  if (x.split() != 1) return by_rows(op, detail::cut_along(values, 0), keep_local, keep);
  const auto turned = conj(matrix_transpose(values));
  auto [u, s, vh, error] =
      by_rows(op, detail::wrap(turned.larray().contiguous(), turned.layout(), x.comm()), keep_local, keep);
  return {conj(matrix_transpose(vh)), s, conj(matrix_transpose(u)), error};
}

HSVD by_rank(const char* op, const DNDarray& x, std::int64_t rank) {
  if (rank < 1) raise<ValueError>(op, "got rank {}; expected rank >= 1", rank);
  return hierarchical(
      op, x, [rank](const auto&) { return rank + 5; }, [rank](const auto&) { return rank; });
}

HSVD by_rtol(const char* op, const DNDarray& x, double rtol) {
  if (!(rtol >= 0)) raise<ValueError>(op, "got rtol {}; expected rtol >= 0", rtol);
  // The squares of what all ranks drop and of what is dropped in the end add up to that of rtol.
  const auto part = rtol / std::sqrt(2.0), each = part / std::sqrt(static_cast<double>(x.comm().size()));
  return hierarchical(
      op, x, [each](const auto& s) { return needed(s, each); }, [part](const auto& s) { return needed(s, part); });
}

}  // namespace

HSVD hsvd_rank(const DNDarray& x, std::int64_t rank) { return by_rank("hsvd_rank", x, rank); }
HSVD hsvd_rtol(const DNDarray& x, double rtol) { return by_rtol("hsvd_rtol", x, rtol); }

HSVD hsvd(const DNDarray& x, const HsvdOptions& options) {
  if (!options.maxrank && !options.rtol) raise<ValueError>("hsvd", "got neither maxrank nor rtol; expected one");
  if (!options.rtol) return by_rank("hsvd", x, *options.maxrank);
  auto parts = by_rtol("hsvd", x, *options.rtol);
  if (!options.maxrank || parts.s.size() <= *options.maxrank) return parts;
  return by_rank("hsvd", x, *options.maxrank);
}

namespace {

/// Cuts `columns`, which are temporary here, as the columns of `a` by which they are multiplied.
DNDarray fitted(const DNDarray& a, const DNDarray& columns) {
  return a.split() == 1 ? detail::brought_to(columns, a.layout().with(columns.shape(), 0)) : columns;
}

/// Returns orthonormal columns that span the images of most vectors under `x`, cut as its rows if those are cut.
DNDarray range_of(const char* op, const DNDarray& x, std::int64_t rank, const RsvdOptions& options) {
  check_matrix(op, x);
  const auto least = std::min(x.shape()[0], x.shape()[1]);
  if (rank < 1 || rank > least || options.oversampling < 0)
    raise<ValueError>(op, "got rank {} and {} more directions for an array of shape {}; expected 1 <= rank <= {}", rank,
                      options.oversampling, to_string(x.shape()), least);
  const auto turned = conj(matrix_transpose(x));
  const auto directions = std::min(least, rank + options.oversampling);
  const auto random = at::randn({x.shape()[1], directions}, at::make_generator<at::CPUGeneratorImpl>(options.seed),
                                at::TensorOptions().dtype(at::kDouble));
  auto q = qr(matmul(x, detail::replicated(random.to(x.larray().options()), x.comm()))).q;
  for (int i = 0; i < options.power_iterations; ++i) {
    const auto back = qr(matmul(turned, fitted(turned, q))).q;
    q = qr(matmul(x, fitted(x, back))).q;
  }
  return fitted(turned, q);
}

}  // namespace

SVD isvd(const DNDarray& columns, const SVD& old, std::int64_t rank) {
  if (columns.ndim() != 2 || columns.shape()[0] != old.u.shape()[0])
    raise<ValueError>("isvd", "got columns of shape {} for left vectors of shape {}; expected as many rows",
                      to_string(columns.shape()), to_string(old.u.shape()));
  const auto known = old.s.size();
  const auto [u, s, vh] = detail::named::svd("isvd", concatenate({old.u * old.s, detail::one_cut("isvd", columns)}, 1));
  if (rank < 1 || rank > s.size())
    raise<ValueError>("isvd", "got rank {} for {} singular values; expected 1 <= rank <= {}", rank, s.size(), s.size());
  const auto first = slice(0, rank);
  const auto rows = vh.index({first});
  const auto left = matmul(rows.index({all_of, slice(0, known)}), old.vh);
  return {u.index({all_of, first}), s.index({first}),
          concatenate({left, rows.index({all_of, slice(known, std::nullopt)})}, 1)};
}

SVD rsvd(const DNDarray& x, std::int64_t rank, const RsvdOptions& options) {
  const auto values = detail::one_cut("rsvd", x).astype(detail::decomposition_type(x.dtype()));
  const auto q = range_of("rsvd", values, rank, options);
  const auto sketch = resplit(matmul(conj(matrix_transpose(q)), values), std::nullopt);
  const auto [u, s, vh] = detail::named::svd("rsvd", sketch);
  const auto first = [&](const at::Tensor& t, int axis) {
    return detail::replicated(t.narrow(axis, 0, rank), x.comm());
  };
  return {matmul(q, first(u.larray(), 1)), first(s.larray(), 0), first(vh.larray(), 0)};
}

Eigen reigh(const DNDarray& x, std::int64_t rank, const RsvdOptions& options) {
  detail::check_matrices("reigh", x, true);
  const auto matrix = detail::one_cut("reigh", x).astype(detail::decomposition_type(x.dtype()));
  const auto q = range_of("reigh", matrix, rank, options);
  const auto projected = resplit(matmul(conj(matrix_transpose(q)), matmul(matrix, fitted(matrix, q))), std::nullopt);
  const auto [values, vectors] = detail::named::eigh("reigh", projected);
  const auto order = values.larray().abs().argsort(/*stable=*/true, 0, /*descending=*/true).narrow(0, 0, rank);
  const auto largest = [&](const at::Tensor& t, int axis) {
    return detail::replicated(t.index_select(axis, order), x.comm());
  };
  return {largest(values.larray(), 0), matmul(q, largest(vectors.larray(), 1))};
}

}  // namespace heatpp::linalg
