#pragma once

#include <complex>
#include <cstdint>
#include <heatpp/comm/dtype.hpp>
#include <type_traits>
#include <variant>

namespace heatpp {
namespace detail {
[[noreturn]] void raise_no_int64(std::uint64_t number);
}

/// One number of any kind in an expression: `x * 2`, `x > 1.5`. It never widens an array's dtype within its kind (whole
/// number, floating, complex).
class Scalar {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> Scalar(T value) {  // NOLINT: conversion intended
    if constexpr (std::is_same_v<T, bool>) value_ = value;
    else if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(std::int64_t))
        if (value > T{INT64_MAX}) detail::raise_no_int64(value);
      value_ = static_cast<std::int64_t>(value);
    } else value_ = static_cast<double>(value);
  }
  template <class T>
  Scalar(std::complex<T> value) : value_(std::complex<double>(value)) {}  // NOLINT: conversion intended

  [[nodiscard]] bool is_bool() const { return value_.index() == 0; }
  [[nodiscard]] bool is_integral() const { return value_.index() == 1; }
  [[nodiscard]] bool is_floating() const { return value_.index() == 2; }
  [[nodiscard]] bool is_complex() const { return value_.index() == 3; }

  /// Returns the value as T, converted as C++ does.
  template <class T>
  [[nodiscard]] T to() const {
    return std::visit(
        [](const auto& v) -> T {
          if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::complex<double>> && std::is_arithmetic_v<T>)
            return static_cast<T>(v.real());
          else return static_cast<T>(v);
        },
        value_);
  }
  /// Returns the dtype of an array made of such numbers: bool, int64, the default one (get_default_dtype) or the
  /// complex one with such parts.
  [[nodiscard]] Dtype default_dtype() const;

 private:
  std::variant<bool, std::int64_t, double, std::complex<double>> value_;
};

}  // namespace heatpp
