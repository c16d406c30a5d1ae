#pragma once

#include <heatpp/core/scalar.hpp>
#include <heatpp/core/shape.hpp>
#include <initializer_list>

namespace heatpp {

/// Numbers in nested braces, as `ht::array({{1, 2}, {3, 4}})` takes them, or a vector of numbers.
class Literal {
 public:
  Literal(const Scalar& value) : values_{value} {}  // NOLINT: conversion intended
  template <class T>
  requires Element<T> Literal(T value) : values_{Scalar(value)} {}  // NOLINT: conversion intended
  template <Element T>
  Literal(const std::vector<T>& values)  // NOLINT: conversion intended
      : shape_{std::ssize(values)}, values_(values.begin(), values.end()) {}
  /// Throws ValueError where the parts differ in shape.
  Literal(std::initializer_list<Literal> parts);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const std::vector<Scalar>& values() const { return values_; }

 private:
  Shape shape_;
  std::vector<Scalar> values_;
};

}  // namespace heatpp
