#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// An array or a number, as it stands on either side of an operator.
class Operand {
 public:
  Operand(const DNDarray& array) : value_(array) {}        // NOLINT: conversion intended
  Operand(DNDarray&& array) : value_(std::move(array)) {}  // NOLINT: conversion intended
  template <class T>
  requires std::is_arithmetic_v<T> Operand(T number) : value_(Scalar(number)) {}  // NOLINT: conversion intended
  template <class T>
  Operand(std::complex<T> number) : value_(Scalar(number)) {}  // NOLINT: conversion intended
  Operand(const Scalar& number) : value_(number) {}            // NOLINT: conversion intended

  /// The array, or nullptr for a number.
  [[nodiscard]] const DNDarray* array() const { return std::get_if<DNDarray>(&value_); }
  /// The number; only where there is no array.
  [[nodiscard]] const Scalar& number() const { return std::get<Scalar>(value_); }

 private:
  std::variant<DNDarray, Scalar> value_;
};

}  // namespace heatpp
