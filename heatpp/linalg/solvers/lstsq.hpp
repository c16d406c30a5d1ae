#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/linalg/matrices/norm.hpp>

namespace heatpp::linalg {

// By singular values (`svd`), with which these functions communicate; products as `matmul`. Singular values at most
// rtol times the largest count as 0; rtol is max(m, n) times the dtype's epsilon if not given. As svd, all but cond
// throw ValueError for matrices with elements that are not finite.

/// The pseudo-inverse (..., n, m) of matrices (..., m, n).
[[nodiscard]] DNDarray pinv(const DNDarray& x, std::optional<double> rtol = std::nullopt);
struct RankOptions {
  std::optional<double> rtol = std::nullopt;
  std::optional<double> tol = std::nullopt;  ///< values at most this count as 0, whatever the largest one
};
/// How many singular values are not 0, as int64; of fewer than two axes whether an element is not 0. Throws ValueError
/// for rtol and tol at once.
[[nodiscard]] DNDarray matrix_rank(const DNDarray& x, const RankOptions& options = {});
/// norm(x, ord) * norm(inv(x), ord), infinite for singular matrices; for 2 and -2 the quotient of the largest and the
/// smallest singular value, or its inverse, where infinite elements make it infinite, and NaN makes it NaN.
[[nodiscard]] DNDarray cond(const DNDarray& x, const NormOrder& ord = 2);
/// What `cond(x)` is at most, if singular values are max(m, n) times the dtype's epsilon times the largest one off: an
/// upper estimate, as HeAT's. Communicates and throws as cond.
[[nodiscard]] DNDarray condest(const DNDarray& x);

struct LeastSquares {
  DNDarray x;          ///< (n) or (n, k)
  DNDarray residuals;  ///< (k): sums of |b - a x|^2; empty unless a has full rank and more rows than columns
  std::int64_t rank;
  DNDarray s;  ///< singular values
};
/// The shortest x that makes |b - a x| smallest, for a matrix (m, n) and one right side (m) or several (m, k). The
/// columns of b with elements that are not finite give NaN. Throws ValueError for other shapes.
[[nodiscard]] LeastSquares lstsq(const DNDarray& a, const DNDarray& b, std::optional<double> rtol = std::nullopt);

}  // namespace heatpp::linalg
