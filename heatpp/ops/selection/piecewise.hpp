#pragma once

#include <functional>
#include <heatpp/ops/selection/selection.hpp>

namespace heatpp {

/// Whole arrays of one number, or the result of a function, for piecewise.
class Piece {
 public:
  Piece(const Scalar& number) : number_(number) {}  // NOLINT: conversion intended
  template <class T>
  requires std::is_arithmetic_v<T> Piece(T number) : number_(Scalar(number)) {}  // NOLINT: conversion intended
  template <class F>
  requires std::is_invocable_r_v<DNDarray, F, const DNDarray&> Piece(F function)  // NOLINT: conversion intended
      : function_(std::move(function)) {}

  [[nodiscard]] Operand operator()(const DNDarray& x) const { return function_ ? Operand(function_(x)) : number_; }

 private:
  Scalar number_ = 0;
  std::function<DNDarray(const DNDarray&)> function_;
};

/// Selects each element from the first choice whose condition is true, else `otherwise`. One pass for each condition.
/// Throws TypeError for conditions that are not bool.
[[nodiscard]] DNDarray select(const std::vector<DNDarray>& conditions, const Choices& choices,
                              const Operand& otherwise = 0);
/// Applies to each element of `x` the function of the last true condition, in the dtype of `x`; one more function is
/// the default, else 0. A condition has x's shape, or its first extents and is valid for all elements behind. Throws
/// IndexError for others, ValueError and TypeError for results as index_put.
[[nodiscard]] DNDarray piecewise(const DNDarray& x, const std::vector<DNDarray>& conditions,
                                 const std::vector<Piece>& functions);

}  // namespace heatpp
