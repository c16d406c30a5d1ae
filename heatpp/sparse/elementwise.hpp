#pragma once

#include <heatpp/core/scalar.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

// Of two matrices of the same shape, cut as the first: rows of the second are recut where it is cut otherwise (16 bytes
// and a value for each entry that moves), else local but for one allgather of 8 bytes. Dtypes meet as those of arrays.
// Collective. Throw ValueError for other shapes.

/// Entries wherever one of the two has one; a sum of 0 stays an entry.
[[nodiscard]] DCSRMatrix add(const DCSRMatrix& a, const DCSRMatrix& b);
[[nodiscard]] DCSRMatrix subtract(const DCSRMatrix& a, const DCSRMatrix& b);
/// Element by element: entries where both have one, so that what only one has counts as 0, NaN and infinity too.
[[nodiscard]] DCSRMatrix multiply(const DCSRMatrix& a, const DCSRMatrix& b);
/// Every entry times a number, which may widen the dtype as it does an array's. Local.
[[nodiscard]] DCSRMatrix multiply(const DCSRMatrix& a, const Scalar& factor);

[[nodiscard]] inline DCSRMatrix operator+(const DCSRMatrix& a, const DCSRMatrix& b) { return add(a, b); }
[[nodiscard]] inline DCSRMatrix operator-(const DCSRMatrix& a, const DCSRMatrix& b) { return subtract(a, b); }
/// Element by element, as that of arrays; the matrix product is `matmul`.
[[nodiscard]] inline DCSRMatrix operator*(const DCSRMatrix& a, const DCSRMatrix& b) { return multiply(a, b); }
[[nodiscard]] inline DCSRMatrix operator*(const DCSRMatrix& a, const Scalar& factor) { return multiply(a, factor); }
[[nodiscard]] inline DCSRMatrix operator*(const Scalar& factor, const DCSRMatrix& a) { return multiply(a, factor); }
[[nodiscard]] inline DCSRMatrix operator/(const DCSRMatrix& a, double divisor) { return multiply(a, 1 / divisor); }
[[nodiscard]] DCSRMatrix operator-(const DCSRMatrix& a);

// a = a + b, ...: another matrix from here on, so that the memory of a host, and copies, keep what they hold.
inline DCSRMatrix& operator+=(DCSRMatrix& a, const DCSRMatrix& b) { return a = a + b; }
inline DCSRMatrix& operator-=(DCSRMatrix& a, const DCSRMatrix& b) { return a = a - b; }
inline DCSRMatrix& operator*=(DCSRMatrix& a, const DCSRMatrix& b) { return a = a * b; }
inline DCSRMatrix& operator*=(DCSRMatrix& a, const Scalar& factor) { return a = a * factor; }
inline DCSRMatrix& operator/=(DCSRMatrix& a, double divisor) { return a = a / divisor; }

/// f of the entries, (nnz,) cut as they lie, which must keep their shape and layout: `map_values(a, ht::abs)`. What has
/// no entry stays 0. One all-reduce of 24 bytes, by which all ranks throw where f does on one of them. Throws
/// ValueError for another layout, and dtypes that differ.
[[nodiscard]] DCSRMatrix map_values(const DCSRMatrix& a, const std::function<DNDarray(const DNDarray&)>& f);
[[nodiscard]] DCSRMatrix astype(const DCSRMatrix& a, Dtype dtype);
[[nodiscard]] DCSRMatrix abs(const DCSRMatrix& a);
[[nodiscard]] DCSRMatrix conj(const DCSRMatrix& a);
[[nodiscard]] DCSRMatrix power(const DCSRMatrix& a, const Scalar& exponent);

/// Row i times factors[i], or column j times factors[j]: vectors of any layout, of which a rank needs those of its rows
/// (recut), or all (gathered). Collective. Throws ValueError for other lengths.
[[nodiscard]] DCSRMatrix scale_rows(const DCSRMatrix& a, const DNDarray& factors);
[[nodiscard]] DCSRMatrix scale_columns(const DCSRMatrix& a, const DNDarray& factors);

/// Without entries that are 0.
[[nodiscard]] DCSRMatrix eliminate_zeros(const DCSRMatrix& a);
/// The entries up to the k-th diagonal, or from it on.
[[nodiscard]] DCSRMatrix tril(const DCSRMatrix& a, std::int64_t k = 0);
[[nodiscard]] DCSRMatrix triu(const DCSRMatrix& a, std::int64_t k = 0);
/// The elements of the main diagonal, (min(rows, columns),), cut as the rows where `a` is. Local but for an allgather.
[[nodiscard]] DNDarray diagonal(const DCSRMatrix& a);

/// Whether shapes and all elements are the same, wherever there are entries; or nearly, as `isclose` says. Collective.
[[nodiscard]] bool array_equal(const DCSRMatrix& a, const DCSRMatrix& b);
[[nodiscard]] bool allclose(const DCSRMatrix& a, const DCSRMatrix& b, double rtol = 1e-5, double atol = 1e-8);

}  // namespace heatpp::sparse
