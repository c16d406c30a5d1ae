#pragma once

#include <heatpp/linalg/solvers/krylov.hpp>

namespace heatpp::linalg {

/// The wanted eigenvalues: those at one end, or those with the largest or smallest |value|.
enum class Which { largest, smallest, largest_magnitude, smallest_magnitude };

struct EigshOptions {
  Which which = Which::largest_magnitude;  ///< of 1 / (value - sigma) if sigma is given: the values next to it
  std::optional<double> sigma =
      std::nullopt;  ///< iterate with the inverse of a - sigma, for values inside the spectrum
  /// The inverse of a - sigma, e.g. a factorization; nullopt: solve_minres, or solve_gmres with a preconditioner.
  std::optional<LinearOperator> inverse = std::nullopt;
  KrylovOptions solve = {.rtol = 1e-12};     ///< options of these solvers
  std::optional<double> tol = std::nullopt;  ///< limit of |a v - value v| / largest |value|; nullopt: 100 epsilon
  std::optional<std::int64_t> max_iterations = std::nullopt;  ///< products; nullopt: 10 n, at least 300
  std::optional<std::int64_t> basis =
      std::nullopt;                           ///< vectors that are kept; nullopt: 2 k + 1, at least 30, at most n
  std::optional<DNDarray> v0 = std::nullopt;  ///< initial vector; nullopt: one without a pattern
  bool multiples = true;                      ///< search for more vectors of the same values before the end
};

/// The result of eigsh and lobpcg, equal on every rank. They log a warning if it has not converged.
struct Eigenpairs {
  DNDarray values;              ///< (k,), real and rising, on every rank
  DNDarray vectors;             ///< (n, k), orthonormal columns, cut by rows as v0 or the operator's vectors
  DNDarray residuals;           ///< |a v - value v| of each, (k,), on every rank
  std::int64_t iterations = 0;  ///< products with the operator, or its inverse, in eigsh; steps of lobpcg
  bool converged = false;       ///< whether all are within tol
};
/// Computes k eigenvalues of a Hermitian operator with their vectors by Lanczos' process, restarted from the best
/// vectors so far (thick restart; Wu and Simon, 2000). Every vector is made orthogonal to all others twice, in float64
/// or complex128. One process finds one vector of a multiple eigenvalue; so after convergence a new one starts from a
/// vector orthogonal to all, until it finds nothing better. A vector has a positive product with the first one. An
/// iteration is one product and two all-reduces of at most 16 (basis + 1) bytes. Collective. Throws ValueError for
/// operators that are not square, k beyond 1 .. n, options out of range and products that are not finite, Error if the
/// solvers find no inverse.
[[nodiscard]] Eigenpairs eigsh(const LinearOperator& a, std::int64_t k, const EigshOptions& options = {});

struct SvdsOptions {
  bool smallest = false;                                      ///< the smallest instead of the largest, much slower
  std::optional<double> tol = std::nullopt;                   ///< as in eigsh, for a^H a
  std::optional<std::int64_t> max_iterations = std::nullopt;  ///< products with both a and its adjoint
  std::optional<std::int64_t> basis = std::nullopt;
  std::optional<DNDarray> v0 = std::nullopt;  ///< (rows,), or (columns,) if there are fewer
  bool multiples = true;
};
/// The result of svds, equal on every rank.
struct SingularTriplets {
  DNDarray u;                   ///< (rows, k), orthonormal columns, cut by rows
  DNDarray s;                   ///< (k,), falling, on every rank
  DNDarray vh;                  ///< (k, columns), orthonormal rows, cut along the columns if u is cut
  DNDarray residuals;           ///< |a^H u - s v|, or |a v - s u| if rows are fewer, on every rank
  std::int64_t iterations = 0;  ///< products with both a and its adjoint
  bool converged = false;
};
/// Computes k singular values of an operator of any shape that has an adjoint, by `eigsh` of a^H a, or of a a^H if
/// there are fewer rows. Products of the vectors with a, made orthogonal, then give values of full accuracy.
/// Collective. Throws ValueError as eigsh and for operators without adjoint.
[[nodiscard]] SingularTriplets svds(const LinearOperator& a, std::int64_t k, const SvdsOptions& options = {});

struct LobpcgOptions {
  std::optional<LinearOperator> preconditioner = std::nullopt;  ///< approximate inverse of `a`, positive definite
  bool largest = true;                                          ///< the largest or the smallest values
  std::optional<double> tol = std::nullopt;  ///< limit of |a v - value v| / largest |value|; nullopt: root of epsilon
  std::int64_t max_iterations = 500;
};
/// Computes the k eigenvalues at one end of a Hermitian operator from the (n, k) columns of `x`, by conjugate gradients
/// of Rayleigh's quotient in blocks (LOBPCG; Knyazev, 2001) with orthonormal directions (Hetmaniuk and Lehoucq, 2006).
/// It suits values for which an approximate inverse is known. A step is a product with each of k vectors, of `a` and of
/// the preconditioner, and four all-reduces of at most (3 k)^2 numbers. Collective. Throws ValueError for other shapes,
/// dependent columns and products that are not finite.
[[nodiscard]] Eigenpairs lobpcg(const LinearOperator& a, const DNDarray& x, const LobpcgOptions& options = {});

}  // namespace heatpp::linalg
