#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::linalg {

/// Orthonormal columns and an upper triangle.
struct QR {
  DNDarray q, r;
};

/// Decomposes x = q r for matrices (..., m, n), with q (..., m, k) and r (..., k, n), k = min(m, n). The signs are
/// those of Householder's reflections, as LAPACK's, for any number of ranks. Whole numbers give inexact_type, 16-bit
/// floats float32. A matrix with elements that are not finite gives NaN throughout; NumPy leaves that to LAPACK.
/// Collective. Throws ValueError if `x` has fewer than two axes.
/// - Replicated matrices and stacks cut along leading axes: every rank on its own; other stacks are recut first.
/// - A cut matrix with at least n rows for each rank (recut by rows if needed): twice by Cholesky's factor of x^T x
///   (Fukaya et al., CholeskyQR2, 2014), two allreduces of n x n numbers, and a gather of as
///   many for the signs. If that fails because the columns are
///   nearly dependent: by local decompositions whose triangles are gathered, P n^2 numbers, and decomposed (Demmel et
///   al., TSQR, 2012). r is replicated.
/// - Other cut matrices: recut by columns. Panels are decomposed in place by Householder's reflections and
///   broadcast, m n numbers in all; one allreduce of 8 bytes. r is split 1.
/// q is split as `x`.
/// Mode complete gives q (..., m, m) and r (..., m, n), from `x` with columns of zeros behind it. Mode r gives only r,
/// and q without columns.
enum class QrMode { reduced, complete, r };
[[nodiscard]] QR qr(const DNDarray& x, QrMode mode = QrMode::reduced);

}  // namespace heatpp::linalg
