#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::linalg {

// Systems of linear equations. Whole numbers are computed in inexact_type, 16-bit floats in float32. Replicated
// matrices, and stacks of matrices that are cut along leading axes, are treated by every rank for itself; stacks that
// are cut inside their matrices are first recut along their longest leading axis. A single n x n matrix that is cut is
// recut by columns (or rows where said) and decomposed panel by panel on the ranks that hold it; each panel is
// broadcast, about n^2 / 2 numbers in all, and an n x n matrix never stands on one rank. All are collective, and throw
// ValueError where matrices are not square or shapes do not fit, and its LinAlgError where a matrix is singular that
// must not be; always on all ranks.

/// x with a x = b, for one right side (n) or several (n, k); the leading axes of stacks (..., n, k) broadcast. By LU
/// decomposition with partial pivoting. NaN throughout for matrices with elements that are not finite, and in columns
/// for which b has such. For a cut matrix the triangles are recut by rows, and the result is cut as those; if neither
/// is cut, neither is x.
[[nodiscard]] DNDarray solve(const DNDarray& a, const DNDarray& b);

struct TriangularOptions {
  bool upper = false;          ///< which triangle of `a` is used
  bool unit_diagonal = false;  ///< take the diagonal as ones
};
/// The same for a triangular matrix: `a` is cut by rows (recut if not), `b` to match it; every rank's part of x is
/// broadcast once, and the others subtract what it contributes.
[[nodiscard]] DNDarray solve_triangular(const DNDarray& a, const DNDarray& b, const TriangularOptions& options = {});

/// The inverse, cut as `a`; NaN where `a` has elements that are not finite.
[[nodiscard]] DNDarray inv(const DNDarray& a);

/// x with tensordot(a, x, x.ndim()) = b, where the last axes of `a` hold as many elements as `b`, whose shape the first
/// ones have: `reshape` to a matrix and a vector, and solve. `axes` of `a` are moved behind the others first.
[[nodiscard]] DNDarray tensorsolve(const DNDarray& a, const DNDarray& b, const std::vector<int>& axes = {});
/// The inverse of a as a map from its last axes to its first `ind` ones: tensordot(tensorinv(a), a, ind) is the
/// identity.
[[nodiscard]] DNDarray tensorinv(const DNDarray& a, int ind = 2);

/// The determinant; 0 for singular matrices. From slogdet: only the result over- or underflows.
[[nodiscard]] DNDarray det(const DNDarray& a);
/// Its sign and the logarithm of its absolute value, which does not overflow.
struct SignAndLog {
  DNDarray sign, logabsdet;
};
[[nodiscard]] SignAndLog slogdet(const DNDarray& a);

struct CholeskyOptions {
  bool upper = false;  ///< read the upper triangle, and give conj(L)^T
};
/// The lower triangular L with a = L conj(L)^T for a Hermitian, positive definite matrix, whose lower triangle alone is
/// read; cut as `a`. Throws LinAlgError where it is not positive definite, as no matrix with elements that are not
/// finite is.
[[nodiscard]] DNDarray cholesky(const DNDarray& a, const CholeskyOptions& options = {});

/// The square matrices `a` to the power `n`, by squaring; negative powers are those of the inverse. Communicates as
/// matmul and inv.
[[nodiscard]] DNDarray matrix_power(const DNDarray& a, std::int64_t n);

}  // namespace heatpp::linalg
