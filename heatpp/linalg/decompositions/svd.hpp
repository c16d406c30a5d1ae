#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::linalg {

/// The decomposition x = u diag(s) vh, singular values falling.
struct SVD {
  DNDarray u, s, vh;
};

// Decompositions by singular values of matrices (..., m, n), with k = min(m, n) values. Whole numbers give
// inexact_type, 16-bit floats float32. Every rank decomposes replicated matrices, and stacks that are cut along
// leading axes, on its own; other stacks are recut first. A cut matrix with at least n rows for each rank is
// reduced to an n x n triangle by `qr` (or its transpose, if that has this shape). Others are cut by columns, and
// pairs of blocks of columns are made orthogonal until all are (Hestenes' method by blocks): each block visits
// every rank about ten times. Use this for matrices that fit on no rank, or on many ranks: LAPACK on a replicated
// matrix, resplit(x, std::nullopt), takes a sixth to an eleventh of the time of two ranks together. All are
// collective and throw ValueError for fewer than two axes or elements that are not finite, Error if the method does
// not converge.

struct SvdOptions {
  bool full_matrices = false;  ///< u (..., m, m) and vh (..., n, n)
};
/// Computes the reduced decomposition: u (..., m, k), s (..., k), vh (..., k, n). The longer one of u and vh is split
/// as `x`, or along its longer axis; the others are replicated. But for a matrix of about as many rows as columns u is
/// split 1 and vh split 0. With full_matrices, the columns of u and the rows of vh are completed to bases by a complete
/// `qr` of each.
[[nodiscard]] SVD svd(const DNDarray& x, const SvdOptions& options = {});
/// Decomposes x = u p by svd: orthonormal columns u, positive semidefinite Hermitian p (n, n), for m >= n.
struct Polar {
  DNDarray u, p;
};
[[nodiscard]] Polar polar(const DNDarray& x);
/// Computes only the singular values, (..., k), on every rank or cut as the stack.
[[nodiscard]] DNDarray svdvals(const DNDarray& x);

}  // namespace heatpp::linalg
