#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/linalg/matrices/norm.hpp>

namespace heatpp::linalg {

// Functions based on singular values (`svd`), with its communication; products as `matmul`. Singular values at most
// rtol times the largest count as 0; the default rtol is max(m, n) times the dtype's epsilon. As svd, all except cond
// throw ValueError for matrices with elements that are not finite.

/// Returns the pseudo-inverse (..., n, m) of matrices (..., m, n).
[[nodiscard]] DNDarray pinv(const DNDarray& x, std::optional<double> rtol = std::nullopt);
struct RankOptions {
  std::optional<double> rtol = std::nullopt;
  std::optional<double> tol = std::nullopt;  ///< values at most this count as 0, instead of rtol
};
/// Returns how many singular values are not 0, as int64; for fewer than two axes whether an element is not 0. Throws
/// ValueError for rtol and tol at once.
[[nodiscard]] DNDarray matrix_rank(const DNDarray& x, const RankOptions& options = {});
/// Computes norm(x, ord) * norm(inv(x), ord), infinite for singular matrices. For 2 and -2 it is the ratio of the
/// largest and smallest singular value, or its inverse; infinite elements make it infinite, NaN makes it NaN.
[[nodiscard]] DNDarray cond(const DNDarray& x, const NormOrder& ord = 2);
/// Returns an upper estimate of `cond(x)`, as HeAT: it allows singular values an error of max(m, n) times the dtype's
/// epsilon times the largest one. Communicates and throws as cond.
[[nodiscard]] DNDarray condest(const DNDarray& x);

struct LeastSquares {
  DNDarray x;          ///< (n) or (n, k)
  DNDarray residuals;  ///< (k): sums of |b - a x|^2; empty unless a has full rank and more rows than columns
  std::int64_t rank;
  DNDarray s;  ///< singular values
};
/// Returns the shortest x that minimizes |b - a x|, for a matrix (m, n) and one right side (m) or several (m, k).
/// Columns of b with elements that are not finite give NaN. Throws ValueError for other shapes.
[[nodiscard]] LeastSquares lstsq(const DNDarray& a, const DNDarray& b, std::optional<double> rtol = std::nullopt);

}  // namespace heatpp::linalg
