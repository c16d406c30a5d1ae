#pragma once

#include <heatpp/core/rows.hpp>

// Matrices of distances between rows, by HeAT's names. Element (i, j) belongs to row i of `x` and row j of `y`, or of
// `x` where there is no `y`. The result is split as the rows of `x`, while the rows of `y` go round the ranks; where
// every rank has all of `x` it is split along axis 1 as the rows of `y` are, and nothing moves. It is float64 where a
// floating dtype of `x` or `y` is, else float32. What is not finite gives NaN or infinity.
namespace heatpp::spatial {

struct DistanceOptions {
  /// Rows of 128 features and more by a product of matrices, about the mean of `y`: with an error of about
  /// eps (|x|^2 + |y|^2) in the square, by which distances much smaller than that of the rows from their mean are
  /// wrong. Rows of fewer are compared by their differences all the same, which takes no longer.
  bool quadratic_expansion = false;
};
/// The Euclidean distances (rows of x, rows of y). Collective: P - 1 messages of the rows of `y` of all ranks but one,
/// and an all-reduce of 8 bytes; none where either is on every rank. Throws ValueError for other numbers of features.
[[nodiscard]] DNDarray cdist(const Rows& x, const Rows& y, const DistanceOptions& options = {});
[[nodiscard]] DNDarray cdist(const Rows& x, const DistanceOptions& options = {});

/// The sums of the sizes of differences. As cdist.
[[nodiscard]] DNDarray manhattan(const Rows& x, const Rows& y);
[[nodiscard]] DNDarray manhattan(const Rows& x);

struct RbfOptions {
  double sigma = 1;
  bool quadratic_expansion = false;  ///< as in DistanceOptions
};
/// exp(-d^2 / (2 sigma^2)) of the Euclidean distances d. As cdist; throws ValueError for sigma <= 0, too.
[[nodiscard]] DNDarray rbf(const Rows& x, const Rows& y, const RbfOptions& options = {});
[[nodiscard]] DNDarray rbf(const Rows& x, const RbfOptions& options = {});

}  // namespace heatpp::spatial
