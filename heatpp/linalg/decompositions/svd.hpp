#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::linalg {

/// x = u diag(s) vh, singular values falling.
struct SVD {
  DNDarray u, s, vh;
};

// Decompositions by singular values of matrices (..., m, n), with k = min(m, n) of them. Whole numbers give
// inexact_type, 16-bit floats float32. Replicated matrices, and stacks that are cut along leading axes, are treated by
// every rank for itself; other stacks are recut first. A cut matrix with at least n rows for each rank is reduced to an
// n x n triangle by `qr` (or, if it is as much wider than tall, its transpose is). Others are cut by columns, and pairs
// of blocks of columns are made orthogonal until all are (Hestenes' method by blocks): about ten times each block
// visits every rank. That is for matrices that no rank has room for, or many ranks: LAPACK on all of a replicated one,
// as resplit(x, std::nullopt) gives, takes a sixth to an eleventh of the time of two ranks together. All are collective
// and throw ValueError where `x` has fewer than two axes or elements that are not finite, Error where it does not
// converge.

struct SvdOptions {
  bool full_matrices = false;  ///< u (..., m, m) and vh (..., n, n)
};
/// The reduced decomposition: u (..., m, k), s (..., k), vh (..., k, n). The longer one of u and vh is split as `x`, or
/// along its longer axis; the others are replicated, except that of a matrix of about as many rows as columns u is
/// split 1 and vh split 0. In full, the columns of u and the rows of vh are completed to bases by a complete `qr` of
/// each.
[[nodiscard]] SVD svd(const DNDarray& x, const SvdOptions& options = {});
/// x = u p with orthonormal columns u and a Hermitian p (n, n) without negative eigenvalues, for m >= n, from svd.
struct Polar {
  DNDarray u, p;
};
[[nodiscard]] Polar polar(const DNDarray& x);
/// The singular values alone, (..., k), on every rank or cut as the stack.
[[nodiscard]] DNDarray svdvals(const DNDarray& x);

}  // namespace heatpp::linalg
