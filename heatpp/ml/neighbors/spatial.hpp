#pragma once

#include <heatpp/core/rows.hpp>

// Matrices of distances between rows, with HeAT's names. Element (i, j) belongs to row i of `x` and row j of `y`, or of
// `x` if there is no `y`. The result is split as the rows of `x`, and the rows of `y` go around the ranks; if every
// rank holds all of `x`, it is split along axis 1 as the rows of `y`, and nothing moves. It is float64 if a floating
// dtype of `x` or `y` is, else float32. Numbers that are not finite give NaN or infinity.
namespace heatpp::spatial {

struct DistanceOptions {
  /// Whether rows of 128 features and more use a product of matrices, about the mean of `y`. Its error in the square is
  /// about eps (|x|^2 + |y|^2): distances much smaller than that of the rows from their mean are wrong. Rows of fewer
  /// features use differences in any case, which takes no longer.
  bool quadratic_expansion = false;
};
/// Returns Euclidean distances (rows of x, rows of y). Collective: P - 1 messages of the rows of `y` of all ranks but
/// one, and an all-reduce of 8 bytes; none if either is on every rank. Throws ValueError for other numbers of features.
[[nodiscard]] DNDarray cdist(const Rows& x, const Rows& y, const DistanceOptions& options = {});
[[nodiscard]] DNDarray cdist(const Rows& x, const DistanceOptions& options = {});

/// Returns the sums of absolute differences. Contract as cdist.
[[nodiscard]] DNDarray manhattan(const Rows& x, const Rows& y);
[[nodiscard]] DNDarray manhattan(const Rows& x);

struct RbfOptions {
  double sigma = 1;
  bool quadratic_expansion = false;  ///< as in DistanceOptions
};
/// Returns exp(-d^2 / (2 sigma^2)) of Euclidean distances d. As cdist; throws ValueError for sigma <= 0, too.
[[nodiscard]] DNDarray rbf(const Rows& x, const Rows& y, const RbfOptions& options = {});
[[nodiscard]] DNDarray rbf(const Rows& x, const RbfOptions& options = {});

}  // namespace heatpp::spatial
