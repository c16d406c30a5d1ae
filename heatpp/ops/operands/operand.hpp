#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/literal.hpp>

namespace heatpp {

/// An array or a number on either side of an operator, as a parameter. It refers to a named array, which must stay in
/// place meanwhile, and holds a temporary.
class Operand {
 public:
  Operand(const DNDarray& array) : value_(&array) {}       // NOLINT: conversion intended
  Operand(DNDarray&& array) : value_(std::move(array)) {}  // NOLINT: conversion intended
  template <class T>
  requires std::is_arithmetic_v<T> Operand(T number)
      : value_(std::in_place_type<Scalar>, number) {}  // NOLINT: conversion intended
  template <class T>
  Operand(std::complex<T> number) : value_(std::in_place_type<Scalar>, number) {}  // NOLINT: conversion intended
  Operand(const Scalar& number) : value_(number) {}                                // NOLINT: conversion intended
  template <class T>
  Operand(std::initializer_list<T>) {  // NOLINT: to say what is wrong
    static_assert(detail::never<T>, "numbers in braces are no operand: write ht::array({...})");
  }
  template <detail::List R>
  Operand(const R&) {  // NOLINT: to say what is wrong
    static_assert(detail::never<R>,
                  "a vector, array or span is no operand: write ht::array(values) for numbers that all ranks give "
                  "alike, ht::from_local(values, {.split = 0}) for those that each rank has of its own");
  }

  /// Returns the array, or nullptr for a number.
  [[nodiscard]] const DNDarray* array() const {
    const auto* const* named = std::get_if<const DNDarray*>(&value_);
    return named ? *named : temporary();
  }
  /// Returns the array if it is a temporary, or nullptr.
  [[nodiscard]] const DNDarray* temporary() const { return std::get_if<DNDarray>(&value_); }
  /// Returns the number; only if there is no array.
  [[nodiscard]] const Scalar& number() const { return std::get<Scalar>(value_); }

 private:
  std::variant<const DNDarray*, DNDarray, Scalar> value_;
};

/// An operand that is stored, such as an option. It shares a named array's elements.
class KeptOperand : public Operand {
 public:
  using Operand::Operand;
  KeptOperand(const DNDarray& array) : Operand(DNDarray(array)) {}  // NOLINT: conversion intended
  KeptOperand(const Operand& operand)                               // NOLINT: conversion intended
      : Operand(operand.array() ? Operand(DNDarray(*operand.array())) : operand) {}
  KeptOperand(DNDarray&& array) : Operand(std::move(array)) {}  // NOLINT: conversion intended
};

}  // namespace heatpp
