#pragma once

#include <heatpp/linalg/solvers/krylov.hpp>

namespace heatpp::linalg {

/// Which eigenvalues: those at one end, or the largest or smallest |value|.
enum class Which { largest, smallest, largest_magnitude, smallest_magnitude };

struct EigshOptions {
  Which which = Which::largest_magnitude;  ///< of 1 / (value - sigma) where there is a sigma: the values next to it
  std::optional<double> sigma =
      std::nullopt;  ///< iterate with the inverse of a - sigma, for values inside the spectrum
  /// The inverse of a - sigma, such as a factorisation; nullopt: solve_minres, or solve_gmres with a preconditioner.
  std::optional<LinearOperator> inverse = std::nullopt;
  KrylovOptions solve = {.rtol = 1e-12};     ///< of these solvers
  std::optional<double> tol = std::nullopt;  ///< of |a v - value v|, to the largest |value|; nullopt: 100 epsilon
  std::optional<std::int64_t> max_iterations = std::nullopt;  ///< products; nullopt: 10 n, at least 300
  std::optional<std::int64_t> basis =
      std::nullopt;                           ///< vectors that are kept; nullopt: 2 k + 1, at least 30, at most n
  std::optional<DNDarray> v0 = std::nullopt;  ///< where to start; nullopt: a vector without a pattern
  bool multiples = true;  ///< look beside what was found for more vectors of the same values before it ends
};

/// What eigsh and lobpcg have found, the same on every rank; they warn by the log where it has not converged.
struct Eigenpairs {
  DNDarray values;              ///< (k,), real and rising, on every rank
  DNDarray vectors;             ///< (n, k), orthonormal columns, cut by rows as v0 or the operator's vectors
  DNDarray residuals;           ///< |a v - value v| of each, (k,), on every rank
  std::int64_t iterations = 0;  ///< products with the operator, or its inverse, of eigsh; steps of lobpcg
  bool converged = false;       ///< whether all are within tol
};
/// k eigenvalues of a Hermitian operator with their vectors, by Lanczos' process that starts again from the best
/// vectors it has (thick restart; Wu and Simon, 2000). Every vector is made orthogonal to all others twice, in float64
/// or complex128. One process sees one vector of a multiple eigenvalue: where all have converged a new one starts from
/// any vector orthogonal to them, until it finds nothing better. A vector has a positive product with the first one.
/// An iteration is one product and two all-reduces of at most 16 (basis + 1) bytes. Collective. Throws ValueError for
/// operators that are not square, k beyond 1 .. n, options out of range and products that are not finite, Error where
/// the solvers do not give an inverse.
[[nodiscard]] Eigenpairs eigsh(const LinearOperator& a, std::int64_t k, const EigshOptions& options = {});

struct SvdsOptions {
  bool smallest = false;                                      ///< rather than the largest, much slower
  std::optional<double> tol = std::nullopt;                   ///< as eigsh has it, of a^H a
  std::optional<std::int64_t> max_iterations = std::nullopt;  ///< products with both a and its adjoint
  std::optional<std::int64_t> basis = std::nullopt;
  std::optional<DNDarray> v0 = std::nullopt;  ///< (rows,), or (columns,) where there are fewer
  bool multiples = true;
};
/// What svds has found, the same on every rank.
struct SingularTriplets {
  DNDarray u;                   ///< (rows, k), orthonormal columns, cut by rows
  DNDarray s;                   ///< (k,), falling, on every rank
  DNDarray vh;                  ///< (k, columns), orthonormal rows, cut along the columns where u is cut
  DNDarray residuals;           ///< |a^H u - s v|, or |a v - s u| where rows are fewer, on every rank
  std::int64_t iterations = 0;  ///< products with both a and its adjoint
  bool converged = false;
};
/// k singular values of an operator of any shape that has an adjoint: `eigsh` of a^H a, or of a a^H where there are
/// fewer rows; products of the vectors with a, made orthogonal, then give values that are as accurate as these.
/// Collective. Throws ValueError as eigsh and for operators without adjoint.
[[nodiscard]] SingularTriplets svds(const LinearOperator& a, std::int64_t k, const SvdsOptions& options = {});

struct LobpcgOptions {
  std::optional<LinearOperator> preconditioner = std::nullopt;  ///< nearly the inverse of `a`, positive definite
  bool largest = true;                                          ///< or the smallest
  std::optional<double> tol = std::nullopt;  ///< of |a v - value v|, to the largest |value|; nullopt: root of epsilon
  std::int64_t max_iterations = 500;
};
/// The k eigenvalues at one end of a Hermitian operator, from the (n, k) columns of `x`, by the conjugate gradients of
/// Rayleigh's quotient in blocks (LOBPCG; Knyazev, 2001), whose directions are kept orthonormal (Hetmaniuk and Lehoucq,
/// 2006): for values whose inverse is nearly known. A step is a product with each of k vectors, of `a` and of the
/// preconditioner, and four all-reduces of at most (3 k)^2 numbers. Collective. Throws ValueError for other shapes,
/// columns that depend on each other and products that are not finite.
[[nodiscard]] Eigenpairs lobpcg(const LinearOperator& a, const DNDarray& x, const LobpcgOptions& options = {});

}  // namespace heatpp::linalg
