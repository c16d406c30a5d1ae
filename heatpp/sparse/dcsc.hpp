#pragma once

#include <heatpp/sparse/construction.hpp>
#include <heatpp/sparse/conversion.hpp>
#include <heatpp/sparse/elementwise.hpp>
#include <heatpp/sparse/indexing.hpp>
#include <heatpp/sparse/product.hpp>
#include <heatpp/sparse/reductions.hpp>

namespace heatpp::sparse {

/// A sparse matrix in compressed sparse columns (DCSC), HeAT's second format: cut by columns at any offsets (split 1),
/// or whole on every rank. It is a view of the rows of its transpose: its functions call those of DCSRMatrix, with the
/// same communication and errors, which name the transposed matrix. A value, as DCSRMatrix.
class DCSCMatrix {
 public:
  /// Makes a matrix without a value: any use except assignment throws ValueError.
  DCSCMatrix() = default;
  /// Makes the transpose of this matrix. Local.
  explicit DCSCMatrix(DCSRMatrix transposed) : transposed_(std::move(transposed)) {}

  [[nodiscard]] const DCSRMatrix& transposed() const& { return transposed_; }
  [[nodiscard]] Layout layout() const;  ///< of the columns
  [[nodiscard]] const Communicator& comm() const& { return transposed_.comm(); }
  [[nodiscard]] Shape shape() const { return {rows(), columns()}; }
  [[nodiscard]] std::int64_t rows() const { return transposed_.columns(); }
  [[nodiscard]] std::int64_t columns() const { return transposed_.rows(); }
  [[nodiscard]] std::optional<int> split() const { return transposed_.split() ? std::optional(1) : std::nullopt; }
  [[nodiscard]] Dtype dtype() const { return transposed_.dtype(); }
  [[nodiscard]] std::int64_t nnz() const { return transposed_.nnz(); }
  [[nodiscard]] std::int64_t lnnz() const { return transposed_.lnnz(); }

  /// Returns where the entries of each of this rank's columns begin, and the end of the last one. Local.
  [[nodiscard]] std::span<const std::int64_t> column_ptr() const& { return transposed_.row_ptr(); }
  /// Return the entries in the order of columns and rows, cut as they lie, (nnz,): their rows and values. Local.
  [[nodiscard]] DNDarray row_indices() const { return transposed_.column_indices(); }
  [[nodiscard]] DNDarray values() const { return transposed_.values(); }
  /// Returns the number of entries of each column, (columns,) int64, cut as the columns. Local.
  [[nodiscard]] DNDarray column_counts() const { return transposed_.row_counts(); }

  /// Gives its products for iterative methods. Local.
  operator linalg::LinearOperator() const;  // NOLINT: conversion intended

 private:
  DCSRMatrix transposed_;
};

/// Convert to columns, or to rows: cut evenly if `a` is cut. Collective: as `transpose`.
[[nodiscard]] inline DCSCMatrix to_csc(const DCSRMatrix& a) { return DCSCMatrix(transpose(a)); }
[[nodiscard]] inline DCSRMatrix to_csr(const DCSCMatrix& a) { return transpose(a.transposed()); }
/// Returns the transposed matrix, by rows, of which `a` is a view. Local.
[[nodiscard]] inline DCSRMatrix transpose(const DCSCMatrix& a) { return a.transposed(); }
/// Takes the elements of a matrix that are not 0, cut as its columns; split 0 is recut. Collective.
[[nodiscard]] DCSCMatrix to_csc(const DNDarray& x);

/// This rank's columns in a host's arrays: see CsrArrays.
struct CscArrays {
  std::variant<std::span<const std::int32_t>, std::span<const std::int64_t>> column_ptr, rows;
  void* values = nullptr;
  Dtype dtype = float64;
};
/// Makes a matrix of columns that the ranks hold, in rank order for `.split = 1`, or equal on every rank, used in place
/// as `from_local` does. Collective. Throws as that for the transposed matrix.
[[nodiscard]] DCSCMatrix from_local_csc(const CscArrays& arrays, std::int64_t rows, const LocalOptions& options = {});

/// Cuts so that rank r gets counts[r] columns. Collective.
[[nodiscard]] inline DCSCMatrix redistribute(const DCSCMatrix& a, const std::vector<std::int64_t>& counts) {
  return DCSCMatrix(redistribute(a.transposed(), counts));
}
/// Return the matrix as an array, cut as its columns, and its entries in the order of columns. Local.
[[nodiscard]] DNDarray to_dense(const DCSCMatrix& a);
[[nodiscard]] Coo to_coo(const DCSCMatrix& a);
/// Makes the matrix whole on every rank (nullopt), or cuts it evenly by columns (1). Collective.
[[nodiscard]] DCSCMatrix resplit(const DCSCMatrix& a, std::optional<int> split);
[[nodiscard]] inline DCSCMatrix balance(const DCSCMatrix& a, Balance by = Balance::rows) {
  return DCSCMatrix(balance(a.transposed(), by));
}
[[nodiscard]] std::string to_string(const DCSCMatrix& a);
std::ostream& operator<<(std::ostream& out, const DCSCMatrix& a);

/// Multiplies by a vector or matrix of any layout, as `rmatmul` of a DCSRMatrix: partial sums of the ranks' columns
/// travel to the owners of rows. Cut evenly by rows if `a` is cut. Collective.
[[nodiscard]] DNDarray matmul(const DCSCMatrix& a, const DNDarray& x);
/// Returns conj(a)^T x, cut as the columns, as `matmul` of a DCSRMatrix. Collective.
[[nodiscard]] DNDarray rmatmul(const DCSCMatrix& a, const DNDarray& x);
/// Returns the sparse product, cut as `b`. Collective.
[[nodiscard]] DCSCMatrix matmul(const DCSCMatrix& a, const DCSCMatrix& b);

/// Returns a + b, as `add` of DCSRMatrix. Collective.
[[nodiscard]] inline DCSCMatrix add(const DCSCMatrix& a, const DCSCMatrix& b) {
  return DCSCMatrix(add(a.transposed(), b.transposed()));
}
/// Returns a - b, as `subtract` of DCSRMatrix. Collective.
[[nodiscard]] inline DCSCMatrix subtract(const DCSCMatrix& a, const DCSCMatrix& b) {
  return DCSCMatrix(subtract(a.transposed(), b.transposed()));
}
/// Multiplies element by element, or every entry by a number.
[[nodiscard]] inline DCSCMatrix multiply(const DCSCMatrix& a, const DCSCMatrix& b) {
  return DCSCMatrix(multiply(a.transposed(), b.transposed()));
}
[[nodiscard]] inline DCSCMatrix multiply(const DCSCMatrix& a, const Scalar& factor) {
  return DCSCMatrix(multiply(a.transposed(), factor));
}
[[nodiscard]] inline DCSCMatrix operator+(const DCSCMatrix& a, const DCSCMatrix& b) { return add(a, b); }
[[nodiscard]] inline DCSCMatrix operator-(const DCSCMatrix& a, const DCSCMatrix& b) { return subtract(a, b); }
[[nodiscard]] inline DCSCMatrix operator*(const DCSCMatrix& a, const DCSCMatrix& b) { return multiply(a, b); }
[[nodiscard]] inline DCSCMatrix operator*(const DCSCMatrix& a, const Scalar& factor) { return multiply(a, factor); }
[[nodiscard]] inline DCSCMatrix operator*(const Scalar& factor, const DCSCMatrix& a) { return multiply(a, factor); }
[[nodiscard]] inline DCSCMatrix operator/(const DCSCMatrix& a, double divisor) { return multiply(a, 1 / divisor); }
[[nodiscard]] inline DCSCMatrix operator-(const DCSCMatrix& a) { return DCSCMatrix(-a.transposed()); }

/// Applies f to the entries, as `map_values` of DCSRMatrix.
[[nodiscard]] inline DCSCMatrix map_values(const DCSCMatrix& a, const std::function<DNDarray(const DNDarray&)>& f) {
  return DCSCMatrix(map_values(a.transposed(), f));
}
/// Returns the matrix in another dtype. Local.
[[nodiscard]] inline DCSCMatrix astype(const DCSCMatrix& a, Dtype dtype) {
  return DCSCMatrix(astype(a.transposed(), dtype));
}
/// Returns the absolute values of the entries.
[[nodiscard]] inline DCSCMatrix abs(const DCSCMatrix& a) { return DCSCMatrix(abs(a.transposed())); }
/// Returns the complex conjugate of the entries.
[[nodiscard]] inline DCSCMatrix conj(const DCSCMatrix& a) { return DCSCMatrix(conj(a.transposed())); }
/// Multiplies row i by factors[i]. Collective.
[[nodiscard]] inline DCSCMatrix scale_rows(const DCSCMatrix& a, const DNDarray& factors) {
  return DCSCMatrix(scale_columns(a.transposed(), factors));
}
/// Multiplies column j by factors[j]. Collective.
[[nodiscard]] inline DCSCMatrix scale_columns(const DCSCMatrix& a, const DNDarray& factors) {
  return DCSCMatrix(scale_rows(a.transposed(), factors));
}
/// Removes entries that are 0.
[[nodiscard]] inline DCSCMatrix eliminate_zeros(const DCSCMatrix& a) {
  return DCSCMatrix(eliminate_zeros(a.transposed()));
}
/// Returns the entries to a power.
[[nodiscard]] inline DCSCMatrix power(const DCSCMatrix& a, const Scalar& exponent) {
  return DCSCMatrix(power(a.transposed(), exponent));
}
/// Keeps the entries up to the k-th diagonal.
[[nodiscard]] inline DCSCMatrix tril(const DCSCMatrix& a, std::int64_t k = 0) {
  return DCSCMatrix(triu(a.transposed(), -k));
}
/// Keeps the entries from the k-th diagonal on.
[[nodiscard]] inline DCSCMatrix triu(const DCSCMatrix& a, std::int64_t k = 0) {
  return DCSCMatrix(tril(a.transposed(), -k));
}
/// Returns the main diagonal, cut as the columns if `a` is.
[[nodiscard]] inline DNDarray diagonal(const DCSCMatrix& a) { return diagonal(a.transposed()); }
/// Returns whether shapes and all elements are equal, for any entries. Collective.
[[nodiscard]] inline bool array_equal(const DCSCMatrix& a, const DCSCMatrix& b) {
  return array_equal(a.transposed(), b.transposed());
}
/// Returns whether shapes are equal and all elements are close, as `isclose` says. Collective.
[[nodiscard]] inline bool allclose(const DCSCMatrix& a, const DCSCMatrix& b, double rtol = 1e-5, double atol = 1e-8) {
  return allclose(a.transposed(), b.transposed(), rtol, atol);
}

/// Take parts as of rows of the transposed matrix: columns stay on their ranks, or are fetched.
[[nodiscard]] inline DCSCMatrix submatrix(const DCSCMatrix& a, const Slice& rows, const Slice& columns = {}) {
  return DCSCMatrix(submatrix(a.transposed(), columns, rows));
}
[[nodiscard]] inline DCSCMatrix take_rows(const DCSCMatrix& a, const DNDarray& positions) {
  return DCSCMatrix(take_columns(a.transposed(), positions));
}
[[nodiscard]] inline DCSCMatrix take_columns(const DCSCMatrix& a, const DNDarray& positions) {
  return DCSCMatrix(take_rows(a.transposed(), positions));
}
[[nodiscard]] DCSCMatrix vstack(const std::vector<DCSCMatrix>& matrices);
[[nodiscard]] DCSCMatrix hstack(const std::vector<DCSCMatrix>& matrices);
[[nodiscard]] DCSCMatrix block_diag(const std::vector<DCSCMatrix>& matrices);

// These reduce all elements, each column (axis 0), cut as the columns, or each row (axis 1), cut evenly if `a` is cut.

/// Returns the sums.
[[nodiscard]] DNDarray sum(const DCSCMatrix& a, std::optional<int> axis = std::nullopt);
/// Returns the means.
[[nodiscard]] DNDarray mean(const DCSCMatrix& a, std::optional<int> axis = std::nullopt);
/// Returns the largest elements.
[[nodiscard]] DNDarray max(const DCSCMatrix& a, std::optional<int> axis = std::nullopt);
/// Returns the smallest elements.
[[nodiscard]] DNDarray min(const DCSCMatrix& a, std::optional<int> axis = std::nullopt);
/// Returns how many elements are not 0. Collective.
[[nodiscard]] inline std::int64_t count_nonzero(const DCSCMatrix& a) { return count_nonzero(a.transposed()); }
/// Returns the Frobenius norm. Collective.
[[nodiscard]] inline double norm(const DCSCMatrix& a) { return norm(a.transposed()); }

}  // namespace heatpp::sparse
