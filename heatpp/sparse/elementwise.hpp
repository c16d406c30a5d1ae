#pragma once

#include <heatpp/core/scalar.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

// Operations on two matrices of the same shape, cut as the first: rows of the second are recut if its cut differs (16
// bytes and a value for each entry that moves), else local except for one allgather of 8 bytes. Dtypes are promoted as
// those of arrays. Collective. They throw ValueError for other shapes.

/// Adds; an entry arises where one of the two has one, and a sum of 0 stays an entry.
[[nodiscard]] DCSRMatrix add(const DCSRMatrix& a, const DCSRMatrix& b);
[[nodiscard]] DCSRMatrix subtract(const DCSRMatrix& a, const DCSRMatrix& b);
/// Multiplies element by element: entries where both have one. The others are 0, also for NaN and infinity.
[[nodiscard]] DCSRMatrix multiply(const DCSRMatrix& a, const DCSRMatrix& b);
/// Multiplies every entry by a number, which may widen the dtype as for an array. Local.
[[nodiscard]] DCSRMatrix multiply(const DCSRMatrix& a, const Scalar& factor);

[[nodiscard]] inline DCSRMatrix operator+(const DCSRMatrix& a, const DCSRMatrix& b) { return add(a, b); }
[[nodiscard]] inline DCSRMatrix operator-(const DCSRMatrix& a, const DCSRMatrix& b) { return subtract(a, b); }
/// Multiplies element by element, as for arrays; the matrix product is `matmul`.
[[nodiscard]] inline DCSRMatrix operator*(const DCSRMatrix& a, const DCSRMatrix& b) { return multiply(a, b); }
[[nodiscard]] inline DCSRMatrix operator*(const DCSRMatrix& a, const Scalar& factor) { return multiply(a, factor); }
[[nodiscard]] inline DCSRMatrix operator*(const Scalar& factor, const DCSRMatrix& a) { return multiply(a, factor); }
[[nodiscard]] inline DCSRMatrix operator/(const DCSRMatrix& a, double divisor) { return multiply(a, 1 / divisor); }
[[nodiscard]] DCSRMatrix operator-(const DCSRMatrix& a);

// Assign a = a + b, ... as a new matrix, so that the memory of a host, and copies, do not change.
inline DCSRMatrix& operator+=(DCSRMatrix& a, const DCSRMatrix& b) { return a = a + b; }
inline DCSRMatrix& operator-=(DCSRMatrix& a, const DCSRMatrix& b) { return a = a - b; }
inline DCSRMatrix& operator*=(DCSRMatrix& a, const DCSRMatrix& b) { return a = a * b; }
inline DCSRMatrix& operator*=(DCSRMatrix& a, const Scalar& factor) { return a = a * factor; }
inline DCSRMatrix& operator/=(DCSRMatrix& a, double divisor) { return a = a / divisor; }

/// Applies f to the entries, (nnz,) cut as they lie; it must keep shape and layout: `map_values(a, ht::abs)`. Elements
/// without an entry stay 0. One all-reduce of 24 bytes; if f throws on one rank, all throw. Throws ValueError for
/// another layout, and dtypes that differ.
[[nodiscard]] DCSRMatrix map_values(const DCSRMatrix& a, const std::function<DNDarray(const DNDarray&)>& f);
[[nodiscard]] DCSRMatrix astype(const DCSRMatrix& a, Dtype dtype);
[[nodiscard]] DCSRMatrix abs(const DCSRMatrix& a);
[[nodiscard]] DCSRMatrix conj(const DCSRMatrix& a);
[[nodiscard]] DCSRMatrix power(const DCSRMatrix& a, const Scalar& exponent);

/// Multiply row i by factors[i], or column j by factors[j]: vectors of any layout. A rank needs those of its rows
/// (recut), or all (gathered). Collective. They throw ValueError for other lengths.
[[nodiscard]] DCSRMatrix scale_rows(const DCSRMatrix& a, const DNDarray& factors);
[[nodiscard]] DCSRMatrix scale_columns(const DCSRMatrix& a, const DNDarray& factors);

/// Removes entries that are 0.
[[nodiscard]] DCSRMatrix eliminate_zeros(const DCSRMatrix& a);
/// Keep the entries up to the k-th diagonal, or from it on.
[[nodiscard]] DCSRMatrix tril(const DCSRMatrix& a, std::int64_t k = 0);
[[nodiscard]] DCSRMatrix triu(const DCSRMatrix& a, std::int64_t k = 0);
/// Returns the main diagonal, (min(rows, columns),), cut as the rows if `a` is. Local except for an allgather.
[[nodiscard]] DNDarray diagonal(const DCSRMatrix& a);

/// Whether shapes and all elements are equal, for any entries; or close, as `isclose` says. Collective.
[[nodiscard]] bool array_equal(const DCSRMatrix& a, const DCSRMatrix& b);
[[nodiscard]] bool allclose(const DCSRMatrix& a, const DCSRMatrix& b, double rtol = 1e-5, double atol = 1e-8);

}  // namespace heatpp::sparse
