#pragma once

#include <heatpp/linalg/solvers/operator.hpp>

#include <optional>

namespace heatpp::linalg {

struct KrylovOptions {
  std::optional<DNDarray> x0 = std::nullopt;  ///< where to start; nullopt: 0
  double rtol = 1e-5;                         ///< ends where |b - a x| is at most this times |b|, or ...
  double atol = 0;                            ///< ... at most this
  std::optional<std::int64_t> max_iterations = std::nullopt;    ///< products with `a`; nullopt: 10 n
  std::optional<LinearOperator> preconditioner = std::nullopt;  ///< nearly the inverse of `a`
  std::int64_t restart = 30;                                    ///< of gmres: vectors that it keeps
  /// Called after every iteration on every rank with its number and the residual's length, until it returns false
  /// there; where any does the solver ends after the next one. What it throws on one rank all throw.
  std::function<bool(std::int64_t iteration, double residual)> progress = {};
};

/// What an iterative method has found, the same on every rank.
struct Solved {
  DNDarray x;                   ///< cut as b
  std::int64_t iterations = 0;  ///< products with `a`, but that of x0
  double residual = 0;          ///< |b - a x| as the method keeps it
  bool converged = false;       ///< whether that is small enough
};

// x with a x = b for a square operator and a vector, each for the operators that it says, in the floating dtype that
// the operator's products with b have. Sums of products are complex128 or float64 over the ranks, so that all take the
// same decisions; a method that ends before it has converged warns by the log. 16 bytes more in each, and an all-reduce
// of 8 at the end, tell what `.progress` and operators of the host have said or thrown on other ranks. Collective.
// Throw ValueError for other shapes, options out of range, and numbers that are not finite.

/// Conjugate gradients (Hestenes and Stiefel, 1952) for Hermitian, positive definite operators, the preconditioner too.
/// An iteration is one product and two all-reduces of a number. Throws ValueError where it meets a vector v whose
/// product v^H a v is not above 0, which names the operator or the preconditioner as not positive definite.
[[nodiscard]] Solved solve_cg(const LinearOperator& a, const DNDarray& b, const KrylovOptions& options = {});
/// Minimal residuals (Paige and Saunders, 1975) for Hermitian operators that may be indefinite, without preconditioner:
/// one product and two all-reduces of a number, and a product at the end for the residual of x itself. Of a singular
/// system without solution it ends at an x that makes the residual least, which has not converged.
[[nodiscard]] Solved solve_minres(const LinearOperator& a, const DNDarray& b, const KrylovOptions& options = {});
/// Generalised minimal residuals (Saad and Schultz, 1986) for any operators, preconditioned from the right, so that the
/// residual is that of the system, starting anew after `.restart` vectors: an iteration is one product and three
/// all-reduces, of at most as many numbers, since vectors are made orthogonal twice.
[[nodiscard]] Solved solve_gmres(const LinearOperator& a, const DNDarray& b, const KrylovOptions& options = {});
/// Stabilised biconjugate gradients (van der Vorst, 1992) for any operators, preconditioned from the right: two
/// products and four all-reduces of one or two numbers for each pair of iterations.
[[nodiscard]] Solved solve_bicgstab(const LinearOperator& a, const DNDarray& b, const KrylovOptions& options = {});

/// The x that makes |b - a x| least (Paige and Saunders: LSQR, 1982), for operators of any shape that have an adjoint:
/// a product with each and two all-reduces of a number an iteration. Ends where |b - a x| is at most rtol |b|, or where
/// |a^H (b - a x)| is at most rtol |a| |b - a x|, by the estimates that the method keeps. x is cut evenly where b is
/// cut.
[[nodiscard]] Solved solve_lsqr(const LinearOperator& a, const DNDarray& b, const KrylovOptions& options = {});

}  // namespace heatpp::linalg
