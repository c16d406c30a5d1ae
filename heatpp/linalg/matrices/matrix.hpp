#pragma once

#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

namespace heatpp {

/// Sums along a diagonal; whole numbers give int64. One allreduce of the result if `x` is split along one of the two
/// axes, otherwise local. Collective. Throws IndexError for axes out of range, ValueError for equal ones.
[[nodiscard]] DNDarray trace(const DNDarray& x, const DiagonalOptions& options = {});

/// The axes of `a`, `b` and the result that hold the vectors.
struct CrossOptions {
  int axisa = -1;
  int axisb = -1;
  int axisc = -1;
};
/// Returns the vector product of vectors with 2 or 3 components; the other axes broadcast. Two components each give its
/// third component, without an axis. An operand that is split along its vectors is recut along its longest other axis;
/// then operands meet as in elementwise functions. Collective. Throws ValueError for other numbers of components.
[[nodiscard]] DNDarray cross(const DNDarray& a, const DNDarray& b, const CrossOptions& options = {});

/// Projects the vector `a` on the direction of the vector `b`. Throws ValueError unless they are vectors.
[[nodiscard]] DNDarray projection(const DNDarray& a, const DNDarray& b);

struct VanderOptions {
  std::optional<std::int64_t> n = std::nullopt;  ///< columns; nullopt: as many as `x` has elements
  bool increasing = false;                       ///< powers rise from left to right
};
/// Returns the matrix of powers of the elements of the vector `x`, a row for each, split as `x`. Local; memory as in
/// the factories. Throws ValueError unless `x` is a vector, or for a negative n.
[[nodiscard]] DNDarray vander(const DNDarray& x, const VanderOptions& options = {});

}  // namespace heatpp

namespace heatpp::linalg {
using heatpp::matrix_transpose;

// These functions of the array API take stacks of matrices, in the last two axes, and vectors with 3 components.

/// Do heatpp::diagonal and heatpp::trace for the last two axes.
[[nodiscard]] inline DNDarray diagonal(const DNDarray& x, std::int64_t offset = 0) {
  return heatpp::diagonal(x, {.offset = offset, .axis1 = -2, .axis2 = -1});
}
[[nodiscard]] inline DNDarray trace(const DNDarray& x, std::int64_t offset = 0) {
  return heatpp::trace(x, {.offset = offset, .axis1 = -2, .axis2 = -1});
}
/// Does heatpp::cross along one axis of both and of the result. Throws ValueError unless vectors have 3 components.
[[nodiscard]] DNDarray cross(const DNDarray& a, const DNDarray& b, int axis = -1);

}  // namespace heatpp::linalg
