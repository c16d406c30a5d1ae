#pragma once

#include <heatpp/core/rows.hpp>
#include <heatpp/core/slice.hpp>
#include <heatpp/linalg/solvers/operator.hpp>

namespace heatpp::sparse {

namespace detail {
struct CsrBlock;
struct Access;
}  // namespace detail

/// A sparse matrix over the ranks of a communicator, by compressed sparse rows (DCSR): cut by rows at any offsets
/// (split 0), or whole on every rank (split none). Of each of its rows a rank holds the columns, which rise and occur
/// once, and the values of the entries; what has no entry is 0. A value: copies share the memory, and functions return
/// matrices of their own. An entry may be 0, which counts as any other.
class DCSRMatrix {
 public:
  struct Impl;
  /// A matrix that nothing was assigned to: any use but assigning throws ValueError.
  DCSRMatrix() = default;
  explicit DCSRMatrix(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  [[nodiscard]] const Layout& layout() const&;  ///< of the rows
  [[nodiscard]] const Communicator& comm() const&;
  [[nodiscard]] const Shape& shape() const& { return layout().shape(); }
  [[nodiscard]] std::int64_t rows() const { return shape()[0]; }
  [[nodiscard]] std::int64_t columns() const { return shape()[1]; }
  [[nodiscard]] std::optional<int> split() const { return layout().split(); }
  [[nodiscard]] Dtype dtype() const;
  [[nodiscard]] std::int64_t nnz() const;   ///< entries over all ranks
  [[nodiscard]] std::int64_t lnnz() const;  ///< entries of this rank

  /// Where the entries of each of this rank's rows begin among its own, and behind the last one where they end. Local.
  [[nodiscard]] std::span<const std::int64_t> row_ptr() const&;
  /// The entries in the order of rows and columns, cut as they lie, shape (nnz,): their columns (int32 where these fit,
  /// else int64), which share the matrix's memory as their values do. HeAT's `indices` and `data`. Local.
  [[nodiscard]] DNDarray column_indices() const;
  [[nodiscard]] DNDarray values() const;
  /// The number of entries of each row, (rows,) int64, cut as the rows. Local.
  [[nodiscard]] DNDarray row_counts() const;

  /// The rows and columns that the slices select: `submatrix`. Collective.
  [[nodiscard]] DCSRMatrix operator()(const Slice& rows, const Slice& columns = {}) const;

  /// Its products, for iterative methods. Local.
  operator linalg::LinearOperator() const;  // NOLINT: conversion intended
  /// Its rows, to learn from: estimators that know sparse rows see the entries alone, others a few rows at a time with
  /// all zeros. Local. Throws TypeError for complex numbers, ValueError for 2^31 columns and more.
  operator Rows() const;  // NOLINT: conversion intended

 private:
  friend struct detail::Access;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace heatpp::sparse
