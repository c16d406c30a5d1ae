#pragma once

#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

namespace heatpp {

/// The sum along a diagonal; whole numbers give int64. One allreduce of the result where `x` is split along one of the
/// two axes, otherwise local. Collective. Throws IndexError for axes out of range, ValueError for equal ones.
[[nodiscard]] DNDarray trace(const DNDarray& x, const DiagonalOptions& options = {});

/// Which axes of `a`, `b` and the result hold the vectors.
struct CrossOptions {
  int axisa = -1;
  int axisb = -1;
  int axisc = -1;
};
/// The vector product of vectors with 2 or 3 components; the other axes broadcast. Two components each give the third
/// of the product, without an axis. An operand that is split along its vectors is recut along its longest other axis,
/// then operands meet as in elementwise functions. Collective. Throws ValueError for other numbers of components.
[[nodiscard]] DNDarray cross(const DNDarray& a, const DNDarray& b, const CrossOptions& options = {});

/// The part of the vector `a` in the direction of the vector `b`. Throws ValueError where they are not vectors.
[[nodiscard]] DNDarray projection(const DNDarray& a, const DNDarray& b);

struct VanderOptions {
  std::optional<std::int64_t> n = std::nullopt;  ///< columns; nullopt: as many as `x` has elements
  bool increasing = false;                       ///< powers rise from left to right
};
/// The matrix of powers of the elements of the vector `x`, a row for each, split as `x`. Local; memory as of the
/// factories. Throws ValueError where `x` is no vector, or for a negative n.
[[nodiscard]] DNDarray vander(const DNDarray& x, const VanderOptions& options = {});

}  // namespace heatpp

namespace heatpp::linalg {
using heatpp::matrix_transpose;

// The array API's functions of stacks of matrices, which lie in the last two axes, and of vectors with 3 components.

/// heatpp::diagonal and heatpp::trace of the last two axes.
[[nodiscard]] inline DNDarray diagonal(const DNDarray& x, std::int64_t offset = 0) {
  return heatpp::diagonal(x, {.offset = offset, .axis1 = -2, .axis2 = -1});
}
[[nodiscard]] inline DNDarray trace(const DNDarray& x, std::int64_t offset = 0) {
  return heatpp::trace(x, {.offset = offset, .axis1 = -2, .axis2 = -1});
}
/// heatpp::cross along one axis of both and of the result. Throws ValueError for vectors without 3 components.
[[nodiscard]] DNDarray cross(const DNDarray& a, const DNDarray& b, int axis = -1);

}  // namespace heatpp::linalg
