#pragma once

#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

/// Multiplies by a vector (columns,) or a matrix (columns, k) of any layout. If the matrix is cut by rows, the result
/// is cut alike. The elements of `x` that it needs, the halo, are found once for each cut of `x` and kept with the
/// matrix (an alltoall and 8 bytes for each element that arrives). Every product moves k numbers for each element of
/// the halo, while rows that need none are multiplied; nothing if `x` is replicated. For a replicated matrix the result
/// is replicated, or cut along the columns as `x` is, without a message. Entries of a row are added in the order of
/// their columns, so the cut changes no bit. 16-bit floats are computed in float32. Collective. Throws ValueError for
/// other shapes.
[[nodiscard]] DNDarray matmul(const DCSRMatrix& a, const DNDarray& x);
/// Returns conj(a)^T x for (rows,) or (rows, k), cut evenly if `a` is cut: partial sums for elements of the halo travel
/// back and are added in the order of the ranks. Collective. Throws as matmul.
[[nodiscard]] DNDarray rmatmul(const DCSRMatrix& a, const DNDarray& x);

/// Multiplies two sparse matrices, cut as `a`. Rows of `b` that columns of `a` name are fetched once from their owners
/// (8 bytes and a value for each entry, and 16 for each row), then rows are combined (Gustavson, 1978). Entries that
/// cancel to 0 stay. Collective. Throws ValueError for other shapes.
[[nodiscard]] DCSRMatrix matmul(const DCSRMatrix& a, const DCSRMatrix& b);

/// Returns the transposed matrix, cut evenly by its rows if `a` is cut: one exchange of 16 bytes and a value for each
/// entry that moves. Collective.
[[nodiscard]] DCSRMatrix transpose(const DCSRMatrix& a);

}  // namespace heatpp::sparse
