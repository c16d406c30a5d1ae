#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>
#include <string_view>

namespace heatpp::linalg {

/// The kind of norm: a number, possibly infinite, "fro" or "nuc".
class NormOrder {
 public:
  enum class Kind { number, frobenius, nuclear };
  NormOrder(double number) : number_(number) {}  // NOLINT: conversion intended
  /// Throws ValueError for other names.
  NormOrder(const char* name);  // NOLINT: conversion intended

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] double number() const { return number_; }

 private:
  Kind kind_ = Kind::number;
  double number_ = 2;
};

struct VectorNormOptions {
  double ord = 2;            ///< any number; 0 counts the elements that are not 0
  Axes axis = std::nullopt;  ///< nullopt: all elements
  bool keepdims = false;
};
/// Computes sum(|x|^ord)^(1/ord) along `axis`; for an infinite order the largest or smallest |x|. In the floating dtype
/// of `x`, real for complex arrays. Along the split axis one allreduce of the result, otherwise local. Collective.
/// Throws IndexError for an axis out of range, ValueError for the smallest of no elements.
[[nodiscard]] DNDarray vector_norm(const DNDarray& x, const VectorNormOptions& options = {});

struct MatrixNormOptions {
  NormOrder ord = "fro";             ///< "fro", "nuc", 1, -1, 2, -2, infinity or -infinity
  std::pair<int, int> axis{-2, -1};  ///< axis of the rows and of the columns
  bool keepdims = false;
};
/// Computes norms of matrices: "fro" of the elements; "nuc" the sum, 2 and -2 the largest and smallest of the singular
/// values (`svdvals`); 1 and -1 the largest and smallest sum of |x| in a column, inf and -inf in a row. Communicates as
/// `sum` and `max`, or as `svdvals`. Collective. The largest of no elements is 0. Throws ValueError for another order,
/// equal axes, the smallest of no elements, and as svdvals for elements that are not finite.
[[nodiscard]] DNDarray matrix_norm(const DNDarray& x, const MatrixNormOptions& options = {});

struct NormOptions {
  std::optional<NormOrder> ord = std::nullopt;  ///< nullopt: the root of the sum of squares
  Axes axis = std::nullopt;                     ///< one axis: vectors, two: matrices
  bool keepdims = false;
};
/// Does NumPy's norm: of vectors or matrices along `axis`; without one, of the vector or matrix `x`, or, without an
/// order, of all its elements. Throws ValueError if `x` is neither.
[[nodiscard]] DNDarray norm(const DNDarray& x, const NormOptions& options = {});
/// Computes the norm of this order: a number, "fro" or "nuc".
template <class Order>
requires(std::is_arithmetic_v<Order> || std::convertible_to<Order, const char*>) [[nodiscard]] DNDarray
    norm(const DNDarray& x, Order ord) {
  return norm(x, NormOptions{.ord = NormOrder(ord)});
}

}  // namespace heatpp::linalg
