#pragma once

#include <functional>
#include <heatpp/ops/selection/selection.hpp>

namespace heatpp {

/// Whole arrays of one number, or the result of a function, as piecewise takes them.
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

/// From the first choice whose condition is true, else `otherwise`. One pass for each condition. Throws TypeError for
/// conditions that are not bool.
[[nodiscard]] DNDarray select(const std::vector<DNDarray>& conditions, const Choices& choices,
                              const Operand& otherwise = 0);
/// The function of the last condition that is true applied to `x`, in its dtype; one function more is the default, else
/// 0. Conditions have x's shape, or its first extents and stand for all that lies behind. Throws IndexError for others,
/// ValueError and TypeError for results as index_put.
[[nodiscard]] DNDarray piecewise(const DNDarray& x, const std::vector<DNDarray>& conditions,
                                 const std::vector<Piece>& functions);

}  // namespace heatpp
