#pragma once

#include <heatpp/ml/detail/pieces.hpp>
#include <heatpp/sparse/detail/impl.hpp>

// Passes over rows as they are stored: dense ones in pieces, those of a sparse matrix by their entries. An estimator
// has a kernel for Piece and one of the same name for SparsePiece.
namespace heatpp::ml::detail {

/// Consecutive rows of a sparse matrix.
template <class T>
struct SparsePiece {
  const std::int64_t* ptr;  ///< the first entry of each row, and the end of the last row
  const std::int32_t* columns;
  const T* values;
  std::int64_t rows, features;
  std::int64_t first;  ///< among the rows of this rank
};

/// Returns the matrix whose rows these are, or null; equal on every rank. Local.
[[nodiscard]] const sparse::DCSRMatrix* sparse_rows(const Rows& rows);

/// Some rows of this rank in the working dtype, with products in float64.
class RowBlock {
 public:
  RowBlock(at::Tensor dense, std::int64_t first) : dense_(std::move(dense)), rows_(dense_.size(0)), first_(first) {}
  /// Takes rows first .. first + rows of a sparse block with int32 columns and values of the working dtype.
  RowBlock(const sparse::detail::CsrBlock& entries, std::int64_t features, std::int64_t first, std::int64_t rows)
      : entries_(&entries), features_(features), rows_(rows), first_(first) {}

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t first() const { return first_; }  ///< among the rows of this rank
  [[nodiscard]] bool is_sparse() const { return entries_ != nullptr; }
  /// Returns all numbers of the rows, in float64.
  [[nodiscard]] at::Tensor dense() const;
  /// Returns the rows minus `origin`, which is 0 for sparse rows.
  [[nodiscard]] RowBlock about(const at::Tensor& origin) const;
  /// Returns the product with a (features, k) matrix of float64, contiguous for sparse rows: (rows, k).
  [[nodiscard]] at::Tensor times(const at::Tensor& matrix) const;
  /// Returns the product with 1 for numbers above `threshold`, which is not negative for sparse rows, and 0 for others.
  [[nodiscard]] at::Tensor times_where_above(double threshold, const at::Tensor& matrix) const;
  /// Returns the sum of the squares of each row, (rows,).
  [[nodiscard]] at::Tensor squares() const;
  /// Adds: sum += rows' z for a (rows, k) tensor of float64; `sum` is (features, k) with any strides.
  void add_adjoint(const at::Tensor& z, at::Tensor sum) const;

  /// Calls f with a Piece or a SparsePiece of float or double.
  template <class F>
  void with_piece(F f) const {
    if (!entries_) return detail::with_piece(dense_, first_, f);
    if (entries_->values.scalar_type() == at::kFloat) f(piece<float>());
    else f(piece<double>());
  }

 private:
  template <class T>
  [[nodiscard]] SparsePiece<T> piece() const {
    return {entries_->ptr() + first_,
            entries_->columns.const_data_ptr<std::int32_t>(),
            entries_->values.const_data_ptr<T>(),
            rows_,
            features_,
            first_};
  }

  template <class F>
  [[nodiscard]] at::Tensor product(const at::Tensor& matrix, F of) const;

  at::Tensor dense_ = {};
  const sparse::detail::CsrBlock* entries_ = nullptr;
  std::int64_t features_ = 0, rows_, first_;
};

/// Whether a function takes sparse rows as they are stored, or as dense rows.
enum class SparseRows { stored, dense };
/// Calls f(block, thread) with blocks of all of this rank's rows, as for_blocks does. Local.
void for_row_blocks(const Rows& rows, const std::function<void(const RowBlock& block, int thread)>& f,
                    SparseRows sparse = SparseRows::stored);

/// Calls f(piece, thread) with the pieces, or sparse pieces, of this rank's rows. Local.
template <class F>
void for_stored(const Rows& rows, F f) {
  for_row_blocks(
      rows, [&](const RowBlock& block, int thread) { block.with_piece([&](const auto& piece) { f(piece, thread); }); });
}

/// Does `summed` for pieces and sparse pieces.
template <class F>
[[nodiscard]] std::vector<double> summed_stored(const Rows& rows, std::size_t numbers, F add,
                                                ReduceOp op = ReduceOp::sum) {
  Totals totals(numbers, op);
  const auto failure = heatpp::detail::failure_of(
      [&] { for_stored(rows, [&](const auto& piece, int thread) { add(piece, totals.of(thread)); }); });
  return totals.over_ranks(rows, failure);
}

/// Does `mapped` for row blocks.
[[nodiscard]] DNDarray mapped_stored(const Rows& rows, std::int64_t columns,
                                     const std::function<at::Tensor(const RowBlock& block)>& f,
                                     SparseRows sparse = SparseRows::stored);

/// Does check_finite for the entries of a sparse piece.
template <class T>
void check_finite(const char* op, const Rows& rows, const SparsePiece<T>& piece, Missing missing = Missing::refused);
/// Does check_finite for all rows. Collective: one all-reduce of 8 bytes, none if rows are replicated.
void check_all_finite(const char* op, const Rows& rows, Missing missing = Missing::refused);

}  // namespace heatpp::ml::detail
