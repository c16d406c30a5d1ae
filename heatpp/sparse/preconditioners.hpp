#pragma once

#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

// Approximate inverses of a square matrix, as operators for `KrylovOptions::preconditioner`. Applying one sends nothing
// if the vector is cut as the matrix; in the solvers it is if the right side is. Collective. They throw ValueError for
// matrices that are not square, and if a pivot is 0 or missing.

/// Returns the inverse of the diagonal.
[[nodiscard]] linalg::LinearOperator jacobi(const DCSRMatrix& a);
/// Factorizes each rank's block on the diagonal without fill-in, ILU(0) (block Jacobi). More ranks ignore more of
/// the matrix. For a symmetric positive definite matrix the product of the factors is symmetric, too, as cg
/// needs.
[[nodiscard]] linalg::LinearOperator block_ilu(const DCSRMatrix& a);
/// Factorizes each rank's block of a Hermitian positive definite matrix, of which the lower triangle is read, by
/// Cholesky without fill-in, IC(0): half the memory of block_ilu, and always positive definite. If a pivot would not be
/// above 0, a rank factorizes its block again with a diagonal 1 + shift times as large, for the first shift of 0.001,
/// 0.002, 0.004, ... that works (Manteuffel, 1980). Throws ValueError if none below 1000 works.
[[nodiscard]] linalg::LinearOperator block_ic(const DCSRMatrix& a);

}  // namespace heatpp::sparse
