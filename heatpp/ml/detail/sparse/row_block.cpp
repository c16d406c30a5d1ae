#include <heatpp/ml/detail/sparse/row_block.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/sparse/detail/matrix_rows.hpp>

#include <cmath>
#include <functional>

namespace heatpp::ml::detail {
namespace {

constexpr std::int64_t most_entries = 1 << 14, most_rows = 4096;  // a part of the second-level cache

/// Returns the first row of each piece of a sparse block, and the end of the last one.
std::vector<std::int64_t> cuts(const sparse::detail::CsrBlock& block) {
  std::vector<std::int64_t> first{0};
  const auto* const ptr = block.ptr();
  const auto end = ptr + block.rows() + 1;
  while (first.back() < block.rows()) {
    const auto row = first.back();
    const auto until = std::upper_bound(ptr + row, end, ptr[row] + most_entries) - ptr - 1;
    first.push_back(std::clamp<std::int64_t>(until, row + 1, std::min(block.rows(), row + most_rows)));
  }
  return first;
}

/// Computes y = of(rows) times a matrix of k columns, 16 at a time in registers.
template <class T, class F>
void multiply(const SparsePiece<T>& a, const double* matrix, std::int64_t k, double* y, F of) {
  constexpr std::int64_t width = 16;
  for (std::int64_t row = 0; row < a.rows; ++row, y += k) {
    const auto begin = a.ptr[row], end = a.ptr[row + 1];
    std::int64_t j = 0;
    for (; j + width <= k; j += width) {
      double sum[width] = {};
      for (auto i = begin; i < end; ++i) {
        const auto* const from = matrix + a.columns[i] * k + j;
        const double value = of(static_cast<double>(a.values[i]));
        for (std::int64_t l = 0; l < width; ++l) sum[l] += value * from[l];
      }
      std::copy(sum, sum + width, y + j);
    }
    for (; j < k; ++j) {
      double sum = 0;
      for (auto i = begin; i < end; ++i) sum += of(static_cast<double>(a.values[i])) * matrix[a.columns[i] * k + j];
      y[j] = sum;
    }
  }
}

template <class T>
void add_products(const SparsePiece<T>& a, const at::Tensor& z, at::Tensor& sum) {
  const auto k = z.size(1), along = sum.stride(0), across = sum.stride(1);
  const auto* from = z.const_data_ptr<double>();
  auto* const to = sum.data_ptr<double>();
  for (std::int64_t row = 0; row < a.rows; ++row, from += k)
    for (auto i = a.ptr[row]; i < a.ptr[row + 1]; ++i) {
      auto* const out = to + a.columns[i] * along;
      const auto value = static_cast<double>(a.values[i]);
      for (std::int64_t l = 0; l < k; ++l) out[l * across] += value * from[l];
    }
}

}  // namespace

const sparse::DCSRMatrix* sparse_rows(const Rows& rows) {
  const auto* const source = dynamic_cast<const sparse::detail::MatrixRows*>(&rows.source());
  return source ? &source->matrix() : nullptr;
}

at::Tensor RowBlock::dense() const {
  if (!entries_) return dense_.to(at::kDouble);
  auto rows = at::zeros({rows_, features_}, at::kDouble);
  with_piece([&]<class P>(const P& piece) {
    if constexpr (requires { piece.ptr; })
      for (std::int64_t row = 0; row < rows_; ++row)
        for (auto i = piece.ptr[row]; i < piece.ptr[row + 1]; ++i)
          rows.data_ptr<double>()[row * features_ + piece.columns[i]] = static_cast<double>(piece.values[i]);
  });
  return rows;
}

RowBlock RowBlock::about(const at::Tensor& origin) const {
  return entries_ ? *this : RowBlock(dense_.to(at::kDouble) - origin, first_);
}

template <class F>
at::Tensor RowBlock::product(const at::Tensor& matrix, F of) const {
  auto y = at::empty({rows_, matrix.size(1)}, at::kDouble);
  with_piece([&]<class P>(const P& piece) {
    if constexpr (requires { piece.ptr; })
      multiply(piece, matrix.const_data_ptr<double>(), matrix.size(1), y.data_ptr<double>(), of);
  });
  return y;
}

at::Tensor RowBlock::times(const at::Tensor& matrix) const {
  return entries_ ? product(matrix, std::identity()) : at::mm(dense_.to(at::kDouble), matrix);
}

at::Tensor RowBlock::times_where_above(double threshold, const at::Tensor& matrix) const {
  if (!entries_) return at::mm((dense_.to(at::kDouble) > threshold).to(at::kDouble), matrix);
  return product(matrix, [=](double value) { return value > threshold ? 1.0 : 0.0; });
}

at::Tensor RowBlock::squares() const {
  if (!entries_) return dense_.to(at::kDouble).square().sum(1);
  auto sums = at::zeros({rows_}, at::kDouble);
  with_piece([&]<class P>(const P& piece) {
    if constexpr (requires { piece.ptr; })
      for (std::int64_t row = 0; row < rows_; ++row)
        for (auto i = piece.ptr[row]; i < piece.ptr[row + 1]; ++i)
          sums.data_ptr<double>()[row] += static_cast<double>(piece.values[i]) * static_cast<double>(piece.values[i]);
  });
  return sums;
}

void RowBlock::add_adjoint(const at::Tensor& z, at::Tensor sum) const {
  if (!entries_) {
    sum.addmm_(dense_.to(at::kDouble).t(), z);
    return;
  }
  const auto rows = z.contiguous();
  with_piece([&]<class P>(const P& piece) {
    if constexpr (requires { piece.ptr; }) add_products(piece, rows, sum);
  });
}

void for_row_blocks(const Rows& rows, const std::function<void(const RowBlock& block, int thread)>& f,
                    SparseRows sparse) {
  const auto* const matrix = sparse == SparseRows::stored ? sparse_rows(rows) : nullptr;
  if (!matrix)
    return for_blocks(
        rows, [&](const at::Tensor& block, std::int64_t first, int thread) { f(RowBlock(block, first), thread); });
  auto block = sparse::detail::block_of(*matrix);
  block.values = block.values.to(heatpp::detail::to_torch(working_dtype(rows)));
  const auto at = cuts(block);
  in_order(std::ssize(at) - 1, [&](std::int64_t i, int thread) {
    const auto p = static_cast<std::size_t>(i);
    f(RowBlock(block, rows.features(), at[p], at[p + 1] - at[p]), thread);
  });
}

DNDarray mapped_stored(const Rows& rows, std::int64_t columns,
                       const std::function<at::Tensor(const RowBlock& block)>& f, SparseRows sparse) {
  auto result = at::empty({rows.count(), columns}, heatpp::detail::to_torch(working_dtype(rows)));
  const auto work = [&] {
    const auto map = [&](const RowBlock& block, int) {
      result.slice(0, block.first(), block.first() + block.rows()).copy_(f(block));
    };
    for_row_blocks(rows, map, sparse);
  };
  if (rows.in_memory() || sparse_rows(rows)) work();
  else all_or_none(rows.comm(), work);
  return as_rows(rows, result);
}

template <class T>
void check_finite(const char* op, const Rows& rows, const SparsePiece<T>& piece, Missing missing) {
  for (std::int64_t i = 0; i < piece.rows; ++i)
    for (auto e = piece.ptr[i]; e < piece.ptr[i + 1]; ++e)
      if (const auto x = piece.values[e]; std::isinf(x) || (std::isnan(x) && missing == Missing::refused))
        heatpp::detail::raise<ValueError>(op, "got {} in row {}, column {}; expected finite numbers{}", x,
                                          rows.first() + piece.first + i, piece.columns[e],
                                          missing == Missing::refused ? "" : " or NaN");
}
template void check_finite(const char*, const Rows&, const SparsePiece<float>&, Missing);
template void check_finite(const char*, const Rows&, const SparsePiece<double>&, Missing);

void check_all_finite(const char* op, const Rows& rows, Missing missing) {
  static_cast<void>(
      summed_stored(rows, 0, [&](const auto& piece, std::span<double>) { check_finite(op, rows, piece, missing); }));
}

}  // namespace heatpp::ml::detail
