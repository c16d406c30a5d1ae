#pragma once

#include <heatpp/core/promotion.hpp>
#include <heatpp/core/shape.hpp>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string_view>

namespace heatpp {

class Literal;
namespace detail {
/// A vector, array or span. A type with a shape is no list of its elements, and text is no list of characters.
template <class R>
concept List =
    std::ranges::random_access_range<R> && !std::convertible_to<R, std::string_view> && !requires(const R& range) {
  range.shape();
};
}  // namespace detail

/// Numbers in nested braces, as `ht::array({{1, 2}, {3, 4}})` takes them, or in nested vectors, arrays and spans.
class Literal {
 public:
  template <std::convertible_to<Scalar> T>
  Literal(const T& value)  // NOLINT: conversion intended
      : values_{Scalar(value)}, dtype_(values_.front().default_dtype()), in_braces_(true) {}
  template <detail::List R>
  requires std::convertible_to<std::ranges::range_value_t<R>, Scalar> Literal(const R& values)  // NOLINT: intended
      : shape_{std::ssize(values)},
        values_(std::ranges::begin(values), std::ranges::end(values)),
        dtype_(dtype_of_all<std::ranges::range_value_t<R>>()) {}
  /// Throws ValueError if the parts differ in shape.
  template <detail::List R>
  requires detail::List<std::ranges::range_value_t<R>> Literal(const R& parts)  // NOLINT: conversion intended
      : Literal(std::vector<Literal>(std::ranges::begin(parts), std::ranges::end(parts))) {}
  Literal(std::initializer_list<Literal> parts) : Literal(std::span(parts.begin(), parts.size())) {}

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const std::vector<Scalar>& values() const { return values_; }
  /// Returns the dtype of a vector's elements, or bool, int64, the default or its complex one for braces.
  [[nodiscard]] Dtype dtype() const { return dtype_; }

 private:
  explicit Literal(std::span<const Literal> parts);

  template <class T>
  static Dtype dtype_of_all() {
    if constexpr (Element<T>) return dtype_of<T>();
    else return Scalar(T()).default_dtype();
  }

  Shape shape_;
  std::vector<Scalar> values_;
  Dtype dtype_ = get_default_dtype();
  bool in_braces_ = false;  ///< whether all numbers are in braces; these widen no dtype
};

}  // namespace heatpp
