#pragma once

#include <heatpp/linalg/decompositions/eigh.hpp>
#include <heatpp/linalg/decompositions/svd.hpp>

namespace heatpp::linalg {

/// The largest singular values with their vectors, and how much is missing.
struct HSVD {
  DNDarray u, s, vh;
  double error;  ///< estimate of |x - u diag(s) vh| / |x|, Frobenius norms
};

// The hierarchical singular value decomposition of a matrix (Iwen, Ong: A distributed and incremental SVD algorithm for
// agglomerative data analysis on large networks, 2016): every rank decomposes its block alone and keeps what matters;
// the small factors of all ranks are gathered and decomposed once more. Of a matrix cut by rows u is split 0 and vh is
// replicated, of one cut by columns u is replicated and vh split 1. Communicates, for r values kept on each of P ranks,
// P r numbers for each index of the axis that is not cut. Collective. Throws ValueError where `x` is no matrix.

/// At most `rank` values; the ranks keep 5 more each.
[[nodiscard]] HSVD hsvd_rank(const DNDarray& x, std::int64_t rank);
/// As many as are needed for |x - u diag(s) vh| <= rtol |x|.
[[nodiscard]] HSVD hsvd_rtol(const DNDarray& x, double rtol);

struct HsvdOptions {
  std::optional<std::int64_t> maxrank = std::nullopt;
  std::optional<double> rtol = std::nullopt;
};
/// Under both conditions, or one of them. Throws ValueError for neither.
[[nodiscard]] HSVD hsvd(const DNDarray& x, const HsvdOptions& options);

/// The first `rank` singular values of [u diag(s) vh | columns], a matrix whose decomposition is known and new columns
/// behind it (Brand: Fast low-rank modifications of the thin singular value decomposition, 2006). Communicates as
/// concatenate and svd of a matrix with as many columns as `old` has values and new ones there are.
[[nodiscard]] SVD isvd(const DNDarray& columns, const SVD& old, std::int64_t rank);

struct RsvdOptions {
  std::int64_t oversampling = 10;  ///< random directions beyond the rank
  int power_iterations = 1;        ///< each sharpens the values that fall slowly
  std::uint64_t seed = 0;
};
/// The first `rank` singular values by random projection (Halko et al., Finding structure with randomness, 2011): the
/// same for any number of ranks. 2 + 2 power_iterations products with `x` and as many `qr`; the (rank + oversampling,
/// n) sketch is gathered. u is split as `x`'s rows, the rest is replicated.
[[nodiscard]] SVD rsvd(const DNDarray& x, std::int64_t rank, const RsvdOptions& options = {});
/// The `rank` eigenvalues of a Hermitian matrix that are largest in size, of either sign, the largest first, with their
/// vectors, by the same projection. Throws ValueError where `x` is not square.
[[nodiscard]] Eigen reigh(const DNDarray& x, std::int64_t rank, const RsvdOptions& options = {});

}  // namespace heatpp::linalg
