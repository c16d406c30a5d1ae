#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::linalg {

struct CgOptions {
  std::optional<DNDarray> x0 = std::nullopt;                  ///< initial guess; nullopt: 0
  std::optional<double> rtol = std::nullopt;                  ///< limit of |b - a x| / |b|; nullopt: 100 times epsilon
  std::optional<std::int64_t> max_iterations = std::nullopt;  ///< nullopt: 10 n
};
/// Solves a x = b for a Hermitian, positive definite (n, n) matrix and a vector, by conjugate gradients. An iteration
/// is one matmul and two allreduces of a number. Collective. Throws ValueError for other shapes.
[[nodiscard]] DNDarray cg(const DNDarray& a, const DNDarray& b, const CgOptions& options = {});

/// Orthonormal columns v (n, m) and the tridiagonal t (m, m) with conj(v)^T a v = t.
struct Lanczos {
  DNDarray v, t;
};
/// Does m steps of Lanczos' iteration for a Hermitian (n, n) matrix from the vector `start`, or from ones. Every new
/// column is made orthogonal to all earlier ones twice. If these span an invariant space, the next column is any
/// other vector, and t has a 0 there. v is split 0 if `a` is cut (which is recut by rows), t is replicated. A step is
/// one matmul and two allreduces of up to m numbers. Collective. Throws ValueError for other shapes and m beyond 1 ..
/// n.
[[nodiscard]] Lanczos lanczos(const DNDarray& a, std::int64_t m, const std::optional<DNDarray>& start = std::nullopt);

/// Computes the exponential of square matrices: the sum of a^k / k!. Replicated matrices, and stacks that are cut along
/// leading axes: every rank on its own. A cut matrix: scaled until its norm is at most 1, Padé's approximation of order
/// 7, squared again (Higham, 2005), by `matmul` and `solve`; the result is cut as `a`. Collective. Throws ValueError
/// unless matrices are square.
[[nodiscard]] DNDarray matrix_exp(const DNDarray& a);
[[nodiscard]] inline DNDarray expm(const DNDarray& a) { return matrix_exp(a); }

}  // namespace heatpp::linalg
