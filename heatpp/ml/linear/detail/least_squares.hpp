#pragma once

#include <heatpp/ml/detail/gram.hpp>
#include <heatpp/ml/linear/detail/targets.hpp>
#include <heatpp/ml/linear/linear_regressor.hpp>

namespace heatpp::ml::detail {

/// X'X, X'y and y'y of each target, about the means, or about 0 without an intercept. The columns of a Gram before
/// `features` are x, the others y.
struct NormalEquations {
  at::Tensor xx, xy, yy;
};
[[nodiscard]] NormalEquations normal_equations(const Gram& gram, std::int64_t features, bool intercept);

/// Coefficients and intercepts: (targets, features) and (targets,).
struct Plane {
  at::Tensor coef, intercept;
};
/// Returns the plane with these (features, targets) coefficients through the means, or through 0.
[[nodiscard]] Plane plane_of(const Gram& gram, const at::Tensor& coef, bool intercept);
/// Returns the plane as the fitted state of a model, on every rank.
[[nodiscard]] FittedPlane fitted_plane(const Rows& rows, const Targets& targets, const Plane& plane);

struct LeastSquaresOptions {
  double alpha = 0;  ///< weight of the squared coefficients in the objective
  bool intercept = true;
  const double* weights = nullptr;
};
/// Returns the coefficients of least weighted squares, and of least norm if several are. Products of columns square the
/// condition number. If it exceeds 1e7 for columns of equal length, a second pass takes products of rows that the first
/// has made nearly orthonormal, and a third follows if the second is not enough (shifted CholeskyQR3, Fukaya, Kannan,
/// Nakatsukasa, Yamamoto, Yanagisawa 2020, by eigenvectors). Collective: one all-reduce for each pass, as `gram`.
/// Sparse rows: as `sparse_least_squares`.
[[nodiscard]] Plane least_squares(const char* op, const Rows& rows, const Targets& targets,
                                  const LeastSquaresOptions& options);

/// Does least_squares for the rows of a sparse matrix, by its products with vectors only (Paige, Saunders: LSQR, 1982;
/// with alpha conjugate gradients), target by target, until the gradient is 1e-13 of its bound or after 10 min(rows,
/// features) + 100 steps. Collective: as column_moments, an all-reduce of 8 (targets + 2) bytes, and as solve_lsqr or
/// solve_cg with products of the matrix and its adjoint and an all-reduce of 8 bytes with each.
[[nodiscard]] Plane sparse_least_squares(const char* op, const Rows& rows, const Targets& targets,
                                         const LeastSquaresOptions& options);

}  // namespace heatpp::ml::detail
