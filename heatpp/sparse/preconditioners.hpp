#pragma once

#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

// Operators that are nearly the inverse of a square matrix, for `KrylovOptions::preconditioner`. To apply one sends
// nothing, where the vector is cut as the matrix, as it is in the solvers for a right side that is. Collective. Throw
// ValueError for matrices that are not square, and where a pivot is 0 or missing.

/// The inverse of the diagonal.
[[nodiscard]] linalg::LinearOperator jacobi(const DCSRMatrix& a);
/// Triangular factors without fill-in, ILU(0), of each rank's block on the diagonal (block Jacobi): the more ranks, the
/// more of the matrix is left out. Of a symmetric positive definite matrix the product is symmetric too, as cg needs
/// it.
[[nodiscard]] linalg::LinearOperator block_ilu(const DCSRMatrix& a);
/// Cholesky's factor without fill-in, IC(0), of each rank's block of a Hermitian positive definite matrix, of which the
/// lower triangle is read: half the memory of block_ilu, and positive definite whatever comes out. Where a pivot would
/// not be above 0 a rank factorises its block again with the diagonal 1 + shift times as large, for the first shift of
/// 0.001, 0.002, 0.004, ... that works (Manteuffel, 1980). Throws ValueError where none below 1000 does.
[[nodiscard]] linalg::LinearOperator block_ic(const DCSRMatrix& a);

}  // namespace heatpp::sparse
