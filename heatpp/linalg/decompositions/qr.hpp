#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::linalg {

/// Orthonormal columns and an upper triangle.
struct QR {
  DNDarray q, r;
};

/// x = q r for matrices (..., m, n), with q (..., m, k) and r (..., k, n), k = min(m, n); the signs are those that
/// Householder's reflections give, as LAPACK's, for any number of ranks. Whole numbers give inexact_type, 16-bit floats
/// float32. A matrix with elements that are not finite gives NaN throughout, which NumPy leaves to LAPACK. Collective.
/// Throws ValueError where `x` has fewer than two axes.
/// - Replicated matrices and stacks cut along leading axes: every rank for itself; other stacks are recut first.
/// - A cut matrix with at least n rows for each rank (recut by rows if need be): twice by Cholesky's factor of x^T x
///   (Fukaya et al., CholeskyQR2, 2014), two allreduces of n x n numbers, and a gather of as
///   many for the signs; where that fails because the columns are too
///   close to dependent, by local decompositions whose triangles are gathered, P n^2 numbers, and decomposed (Demmel et
///   al., TSQR, 2012). r is replicated.
/// - Other cut matrices: recut by columns; panels are decomposed by Householder's reflections where they lie, and
///   broadcast, m n numbers in all; one allreduce of 8 bytes. r is split 1.
/// q is split as `x`.
/// mode complete: q (..., m, m) and r (..., m, n), from `x` with columns of zeros behind it; mode r: r alone, and q
/// without columns.
enum class QrMode { reduced, complete, r };
[[nodiscard]] QR qr(const DNDarray& x, QrMode mode = QrMode::reduced);

}  // namespace heatpp::linalg
