#pragma once

#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

/// The product with a vector (columns,) or a matrix (columns, k) of any layout. Of a matrix that is cut by rows the
/// result is cut alike; what it needs of `x`, the halo, is found out once for each cut of `x` and kept with the matrix
/// (an alltoall and 8 bytes for each element that comes), and every product moves k numbers for each element of the
/// halo while rows that need none are multiplied; nothing where `x` is replicated. Of a replicated matrix the result is
/// replicated, or cut along the columns as `x` is, without a message. Entries of a row are added in the order of their
/// columns, so the cut changes no bit. 16-bit floats are computed in float32. Collective. Throws ValueError for other
/// shapes.
[[nodiscard]] DNDarray matmul(const DCSRMatrix& a, const DNDarray& x);
/// conj(a)^T x for (rows,) or (rows, k), cut evenly where `a` is cut: partial sums for elements of the halo travel back
/// and are added in the order of the ranks. Collective. Errors as matmul.
[[nodiscard]] DNDarray rmatmul(const DCSRMatrix& a, const DNDarray& x);

/// The sparse product of two matrices, cut as `a`: rows of `b` that are named by columns of `a` are fetched once from
/// their owners (8 bytes and a value for each entry, and 16 for each row), then rows are combined (Gustavson, 1978).
/// Entries that cancel to 0 stay. Collective. Throws ValueError for other shapes.
[[nodiscard]] DCSRMatrix matmul(const DCSRMatrix& a, const DCSRMatrix& b);

/// The transposed matrix, cut evenly by its rows where `a` is cut: one exchange of 16 bytes and a value for each entry
/// that moves. Collective.
[[nodiscard]] DCSRMatrix transpose(const DCSRMatrix& a);

}  // namespace heatpp::sparse
