#pragma once

#include <heatpp/core/scalar.hpp>
#include <heatpp/core/shape.hpp>
#include <initializer_list>

namespace heatpp {

/// Numbers in nested braces, as `ht::array({{1, 2}, {3, 4}})` takes them, or a vector of numbers.
class Literal {
 public:
  template <std::convertible_to<Scalar> T>
  Literal(const T& value) : values_{Scalar(value)}, dtype_(values_.front().default_dtype()) {}  // NOLINT: intended
  template <std::convertible_to<Scalar> T>
  Literal(const std::vector<T>& values)  // NOLINT: conversion intended
      : shape_{std::ssize(values)}, values_(values.begin(), values.end()), dtype_(dtype_of_all<T>()) {}
  /// Throws ValueError where the parts differ in shape.
  Literal(std::initializer_list<Literal> parts);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const std::vector<Scalar>& values() const { return values_; }
  /// That of a vector's elements; of numbers in braces bool, int64, float32 or complex64.
  [[nodiscard]] Dtype dtype() const { return dtype_; }

 private:
  template <class T>
  static Dtype dtype_of_all() {
    if constexpr (Element<T>) return dtype_of<T>();
    else return Scalar(T()).default_dtype();
  }

  Shape shape_;
  std::vector<Scalar> values_;
  Dtype dtype_ = float32;
};

}  // namespace heatpp
