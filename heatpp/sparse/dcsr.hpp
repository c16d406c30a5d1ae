#pragma once

#include <heatpp/core/rows.hpp>
#include <heatpp/core/slice.hpp>
#include <heatpp/linalg/solvers/operator.hpp>

namespace heatpp::sparse {

namespace detail {
struct CsrBlock;
struct Access;
}  // namespace detail

/// A sparse matrix over the ranks of a communicator, in compressed sparse rows (DCSR): cut by rows at any offsets
/// (split 0), or whole on every rank (split none). A rank holds the columns of each of its rows, which increase and
/// occur once, and the values of the entries; an element without an entry is 0. It is a value: copies share the memory,
/// and functions return matrices of their own. An entry may be 0 and counts as any other.
class DCSRMatrix {
 public:
  struct Impl;
  /// Makes a matrix without a value: any use except assignment throws ValueError.
  DCSRMatrix() = default;
  explicit DCSRMatrix(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  [[nodiscard]] const Layout& layout() const&;  ///< layout of the rows
  [[nodiscard]] const Communicator& comm() const&;
  [[nodiscard]] const Shape& shape() const& { return layout().shape(); }
  [[nodiscard]] std::int64_t rows() const { return shape()[0]; }
  [[nodiscard]] std::int64_t columns() const { return shape()[1]; }
  [[nodiscard]] std::optional<int> split() const { return layout().split(); }
  [[nodiscard]] Dtype dtype() const;
  [[nodiscard]] std::int64_t nnz() const;   ///< entries over all ranks
  [[nodiscard]] std::int64_t lnnz() const;  ///< entries of this rank

  /// Returns where the entries of each of this rank's rows begin among its own, and the end of the last one. Local.
  [[nodiscard]] std::span<const std::int64_t> row_ptr() const&;
  /// Returns the columns of the entries, in the order of rows and columns, cut as they lie, shape (nnz,): int32 if
  /// these fit, else int64. They share the matrix's memory, as the values do. HeAT's `indices` and `data`. Local.
  [[nodiscard]] DNDarray column_indices() const;
  [[nodiscard]] DNDarray values() const;
  /// Returns the number of entries of each row, (rows,) int64, cut as the rows. Local.
  [[nodiscard]] DNDarray row_counts() const;

  /// Returns the rows and columns that the slices select: `submatrix`. Collective.
  [[nodiscard]] DCSRMatrix operator()(const Slice& rows, const Slice& columns = {}) const;

  /// Gives its products for iterative methods. Local.
  operator linalg::LinearOperator() const;  // NOLINT: conversion intended
  /// Gives its rows for learning: estimators that support sparse rows read only the entries, others read a few rows at
  /// a time with all zeros. Local. Throws TypeError for complex numbers, ValueError for 2^31 columns and more.
  operator Rows() const;  // NOLINT: conversion intended

 private:
  friend struct detail::Access;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace heatpp::sparse
