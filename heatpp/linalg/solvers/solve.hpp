#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::linalg {

// Systems of linear equations. Whole numbers are computed in inexact_type, 16-bit floats in float32. Every rank solves
// replicated matrices, and stacks of matrices that are cut along leading axes, on its own; stacks that are cut inside
// their matrices are first recut along their longest leading axis. A single n x n matrix that is cut is recut by
// columns (or rows if the function says so) and decomposed panel by panel on the ranks that hold it. Each panel is
// broadcast, about n^2 / 2 numbers in all, and no rank ever holds an n x n matrix. A matrix on a grid of ranks is first
// recut along its longest axis, except by cholesky, solve_triangular and matrix_power. All are collective. They throw
// ValueError if matrices are not square or shapes do not fit, and its LinAlgError for a singular matrix that must not
// be; always on all ranks.

/// Solves a x = b, for one right side (n) or several (n, k); the leading axes of stacks (..., n, k) broadcast. By LU
/// decomposition with partial pivoting. Matrices with elements that are not finite give NaN throughout, and so do
/// columns of b with such elements. For a cut matrix the triangles are recut by rows, and the result is cut as those;
/// if neither is cut, neither is x.
[[nodiscard]] DNDarray solve(const DNDarray& a, const DNDarray& b);

struct TriangularOptions {
  bool upper = false;          ///< the triangle of `a` that is used
  bool unit_diagonal = false;  ///< take the diagonal as ones
};
/// Solves for a triangular matrix: `a` is cut by rows (recut if not), `b` to match it. Every rank's part of x is
/// broadcast once, and the others subtract its contribution. On a grid of ranks, blocks of 128 columns are dealt to
/// them in turns meanwhile, and x is cut as `b`.
[[nodiscard]] DNDarray solve_triangular(const DNDarray& a, const DNDarray& b, const TriangularOptions& options = {});

/// Returns the inverse, cut as `a`; NaN if `a` has elements that are not finite.
[[nodiscard]] DNDarray inv(const DNDarray& a);

/// Solves tensordot(a, x, x.ndim()) = b. The last axes of `a` hold as many elements as `b`, and the first ones have its
/// shape: `reshape` to a matrix and a vector, and solve. `axes` of `a` are first moved behind the others.
[[nodiscard]] DNDarray tensorsolve(const DNDarray& a, const DNDarray& b, const std::vector<int>& axes = {});
/// Returns the inverse of a as a map from its last axes to its first `ind` ones: tensordot(tensorinv(a), a, ind) is the
/// identity.
[[nodiscard]] DNDarray tensorinv(const DNDarray& a, int ind = 2);

/// Returns the determinant; 0 for singular matrices. From slogdet: only the result over- or underflows.
[[nodiscard]] DNDarray det(const DNDarray& a);
/// The sign of a determinant and the logarithm of its absolute value, which does not overflow.
struct SignAndLog {
  DNDarray sign, logabsdet;
};
[[nodiscard]] SignAndLog slogdet(const DNDarray& a);

struct CholeskyOptions {
  bool upper = false;  ///< read the upper triangle, and return conj(L)^T
};
/// Returns the lower triangular L with a = L conj(L)^T for a Hermitian, positive definite matrix, of which only the
/// lower triangle is read; cut as `a`. On a grid of ranks, blocks of 128 columns are dealt to them in turns meanwhile.
/// Throws LinAlgError unless it is positive definite; a matrix with elements that are not finite is not.
[[nodiscard]] DNDarray cholesky(const DNDarray& a, const CholeskyOptions& options = {});

/// Returns the square matrices `a` to the power `n`, by squaring; negative powers use the inverse. Communicates as
/// matmul and inv.
[[nodiscard]] DNDarray matrix_power(const DNDarray& a, std::int64_t n);

}  // namespace heatpp::linalg
