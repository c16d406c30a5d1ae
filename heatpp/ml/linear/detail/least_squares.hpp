#pragma once

#include <heatpp/ml/detail/gram.hpp>
#include <heatpp/ml/linear/detail/targets.hpp>
#include <heatpp/ml/linear/linear_regressor.hpp>

namespace heatpp::ml::detail {

/// The columns of a Gram before `features` are x, those behind it y: X'X, X'y and y'y of each target about the means,
/// or about 0 where there is no intercept.
struct NormalEquations {
  at::Tensor xx, xy, yy;
};
[[nodiscard]] NormalEquations normal_equations(const Gram& gram, std::int64_t features, bool intercept);

/// What makes a model of numbers: (targets, features) and (targets,).
struct Plane {
  at::Tensor coef, intercept;
};
/// The plane through the means with these (features, targets) coefficients, or through 0.
[[nodiscard]] Plane plane_of(const Gram& gram, const at::Tensor& coef, bool intercept);
/// The same on every rank, as a model keeps it.
[[nodiscard]] LearntPlane learnt_plane(const Rows& rows, const Targets& targets, const Plane& plane);

struct LeastSquaresOptions {
  double alpha = 0;  ///< of the squared coefficients that are added
  bool intercept = true;
  const double* weights = nullptr;
};
/// The coefficients of the least sum of weighted squares, of several the ones of least norm. Products of columns square
/// the condition number: where it is beyond 1e7, of columns of equal length, a second pass takes products of rows that
/// the first has made nearly orthonormal, and a third where the second has not done so (shifted CholeskyQR3, Fukaya,
/// Kannan, Nakatsukasa, Yamamoto, Yanagisawa 2020, by eigenvectors). Collective: one all-reduce for each pass, as
/// `gram`. Of sparse rows as `sparse_least_squares`.
[[nodiscard]] Plane least_squares(const char* op, const Rows& rows, const Targets& targets,
                                  const LeastSquaresOptions& options);

/// The same of the rows of a sparse matrix, whose products with vectors are all that is needed (Paige, Saunders: LSQR,
/// 1982; with alpha conjugate gradients), each target for itself, until the gradient is 1e-13 of what it might be or
/// 10 min(rows, features) + 100 steps are done. Collective: as column_moments, an all-reduce of 8 (targets + 2) bytes,
/// and as solve_lsqr or solve_cg with products of the matrix and its adjoint and an all-reduce of 8 bytes with each.
[[nodiscard]] Plane sparse_least_squares(const char* op, const Rows& rows, const Targets& targets,
                                         const LeastSquaresOptions& options);

}  // namespace heatpp::ml::detail
