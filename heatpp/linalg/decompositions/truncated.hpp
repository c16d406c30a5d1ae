#pragma once

#include <heatpp/linalg/decompositions/eigh.hpp>
#include <heatpp/linalg/decompositions/svd.hpp>

namespace heatpp::linalg {

/// The largest singular values with their vectors, and the error.
struct HSVD {
  DNDarray u, s, vh;
  double error;  ///< estimate of |x - u diag(s) vh| / |x|, Frobenius norms
};

// Hierarchical singular value decompositions of a matrix (Iwen, Ong: A distributed and incremental SVD algorithm for
// agglomerative data analysis on large networks, 2016). Every rank decomposes its block alone and keeps the largest
// values; the small factors of all ranks are gathered and decomposed again. For a matrix cut by rows u is split 0 and
// vh is replicated; for one cut by columns u is replicated and vh split 1. Communicates, for r values kept on each of P
// ranks, P r numbers for each index of the axis that is not cut. Collective. Throws ValueError unless `x` is a matrix.

/// Keeps at most `rank` values; the ranks keep 5 more each.
[[nodiscard]] HSVD hsvd_rank(const DNDarray& x, std::int64_t rank);
/// Keeps as many values as |x - u diag(s) vh| <= rtol |x| needs.
[[nodiscard]] HSVD hsvd_rtol(const DNDarray& x, double rtol);

struct HsvdOptions {
  std::optional<std::int64_t> maxrank = std::nullopt;
  std::optional<double> rtol = std::nullopt;
};
/// Keeps values under both conditions, or one of them. Throws ValueError for neither.
[[nodiscard]] HSVD hsvd(const DNDarray& x, const HsvdOptions& options);

/// Computes the first `rank` singular values of [u diag(s) vh | columns]: a matrix with a known decomposition, and new
/// columns (Brand: Fast low-rank modifications of the thin singular value decomposition, 2006). Communicates as
/// concatenate and svd of a matrix whose columns are the values of `old` and the new ones.
[[nodiscard]] SVD isvd(const DNDarray& columns, const SVD& old, std::int64_t rank);

struct RsvdOptions {
  std::int64_t oversampling = 10;  ///< random directions in addition to the rank
  int power_iterations = 1;        ///< each improves values that fall slowly
  std::uint64_t seed = 0;
};
/// Computes the first `rank` singular values by random projection (Halko et al., Finding structure with randomness,
/// 2011), equal for any number of ranks. 2 + 2 power_iterations products with `x` and as many `qr`; the (rank +
/// oversampling, n) sketch is gathered. u is split as `x`'s rows, the rest is replicated.
[[nodiscard]] SVD rsvd(const DNDarray& x, std::int64_t rank, const RsvdOptions& options = {});
/// Computes the `rank` eigenvalues of a Hermitian matrix with the largest magnitude, the largest first, and their
/// vectors, by that projection. Throws ValueError unless `x` is square.
[[nodiscard]] Eigen reigh(const DNDarray& x, std::int64_t rank, const RsvdOptions& options = {});

}  // namespace heatpp::linalg
