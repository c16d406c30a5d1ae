#pragma once

#include <heatpp/linalg/solvers/operator.hpp>

#include <optional>

namespace heatpp::linalg {

struct KrylovOptions {
  std::optional<DNDarray> x0 = std::nullopt;                    ///< initial guess; nullopt: 0
  double rtol = 1e-5;                                           ///< ends if |b - a x| is at most this times |b|, or ...
  double atol = 0;                                              ///< ... at most this
  std::optional<std::int64_t> max_iterations = std::nullopt;    ///< products with `a`; nullopt: 10 n
  std::optional<LinearOperator> preconditioner = std::nullopt;  ///< approximate inverse of `a`
  std::int64_t restart = 30;                                    ///< for gmres: vectors that it keeps
  /// Called after every iteration on every rank with its number and the residual's length, until it returns false on
  /// that rank. The solver then ends after the next iteration. If it throws on one rank, all throw.
  std::function<bool(std::int64_t iteration, double residual)> progress = {};
};

/// The result of an iterative method, equal on every rank.
struct Solved {
  DNDarray x;                   ///< cut as b
  std::int64_t iterations = 0;  ///< products with `a`, except that of x0
  double residual = 0;          ///< |b - a x| as the method computes it
  bool converged = false;       ///< whether that is small enough
};

// Solvers of a x = b for a square operator and a vector, each for certain operators, in the floating dtype of the
// operator's products with b. Sums of products over the ranks are complex128 or float64, so that all ranks decide
// alike. A method that ends before convergence logs a warning. Each sum carries 16 bytes more, and there is an
// all-reduce of 8 at the end: they tell the other ranks what `.progress` and operators of the host returned or threw.
// Collective. They throw ValueError for other shapes, options out of range, and numbers that are not finite.

/// Solves by conjugate gradients (Hestenes and Stiefel, 1952) for Hermitian, positive definite operators and
/// preconditioners. An iteration is one product and two all-reduces of a number. Throws ValueError for a vector v with
/// v^H a v not above 0; it says whether the operator or the preconditioner is not positive definite.
[[nodiscard]] Solved solve_cg(const LinearOperator& a, const DNDarray& b, const KrylovOptions& options = {});
/// Solves by minimal residuals (Paige and Saunders, 1975) for Hermitian operators that may be indefinite, without
/// preconditioner: one product and two all-reduces of a number, and a product at the end for the residual of x itself.
/// For a singular system without solution it ends, not converged, at an x with the least residual.
[[nodiscard]] Solved solve_minres(const LinearOperator& a, const DNDarray& b, const KrylovOptions& options = {});
/// Solves by generalized minimal residuals (Saad and Schultz, 1986) for any operator, preconditioned from the right, so
/// that the residual is the system's; restarted after `.restart` vectors. An iteration is one product and three
/// all-reduces, of at most as many numbers, because vectors are made orthogonal twice.
[[nodiscard]] Solved solve_gmres(const LinearOperator& a, const DNDarray& b, const KrylovOptions& options = {});
/// Solves by stabilized biconjugate gradients (van der Vorst, 1992) for any operator, preconditioned from the right:
/// two products and four all-reduces of one or two numbers for each pair of iterations.
[[nodiscard]] Solved solve_bicgstab(const LinearOperator& a, const DNDarray& b, const KrylovOptions& options = {});

/// Minimizes |b - a x| (Paige and Saunders: LSQR, 1982) for operators of any shape that have an adjoint: a
/// product with each and two all-reduces of a number for each iteration. Ends if |b - a x| is at most rtol
/// |b|, or |a^H (b - a x)| is at most rtol |a| |b - a x|, by the method's estimates. x is cut evenly if b is
/// cut.
[[nodiscard]] Solved solve_lsqr(const LinearOperator& a, const DNDarray& b, const KrylovOptions& options = {});

}  // namespace heatpp::linalg
