#pragma once

#include <concepts>
#include <heatpp/core/dndarray.hpp>
#include <initializer_list>

namespace heatpp {

/// A whole number that names an axis.
template <class T>
concept AxisNumber = std::integral<T> && !std::same_as<T, bool>;

/// One axis, several or all: `1`, `{0, 2}`, `std::nullopt`. Negative ones count from the end. Empty braces do not
/// compile, because they could mean no axis or all; `std::vector<int>()` is no axis.
class Axes {
 public:
  Axes() = delete;
  Axes(std::nullopt_t) : all_(true) {}  // NOLINT: conversion intended
  Axes(int axis) : values_{axis} {}     // NOLINT: conversion intended
  template <std::same_as<std::optional<int>> One>
  Axes(const One& axis) : all_(!axis), values_(axis ? 1 : 0, axis.value_or(0)) {}  // NOLINT: conversion intended
  Axes(std::initializer_list<int> axes) : values_(axes) {}                         // NOLINT: conversion intended
  Axes(std::vector<int> axes) : values_(std::move(axes)) {}                        // NOLINT: conversion intended
  [[nodiscard]] bool all() const { return all_; }
  [[nodiscard]] const std::vector<int>& values() const { return values_; }

 private:
  bool all_ = false;
  std::vector<int> values_;
};

/// An argument that names one axis, or none, on its own.
template <class T>
concept AxisArgument = AxisNumber<T> || std::same_as<T, std::optional<int>> || std::same_as<T, std::nullopt_t>;
/// An argument that names axes on its own.
template <class T>
concept AxesArgument = AxisArgument<T> || std::same_as<T, Axes> || std::same_as<T, std::vector<int>>;

namespace detail {
[[nodiscard]] inline std::optional<int> axis_of(const AxisArgument auto& axis) {
  if constexpr (std::integral<std::remove_cvref_t<decltype(axis)>>) return static_cast<int>(axis);
  else return axis;
}
[[nodiscard]] inline Axes axes_of(const AxesArgument auto& axes) {
  if constexpr (std::integral<std::remove_cvref_t<decltype(axes)>>) return static_cast<int>(axes);
  else return axes;
}
}  // namespace detail

/// Declares `name(x, 1)` and `name(x, std::nullopt)` beside `name(x, {.axis = 1})`.
#define HEATPP_ALONG_AXIS(Result, name, Options)                                       \
  [[nodiscard]] inline Result name(const DNDarray& x, const AxisArgument auto& axis) { \
    return name(x, Options{.axis = detail::axis_of(axis)});                            \
  }
/// Declares `name(x, 1)`, `name(x, {0, 2})` and `name(x, std::nullopt)` beside `name(x, {.axis = 1})`. `name(x, {})`
/// has default options: it is `name(x)`.
#define HEATPP_OVER_AXES(Result, name, Options)                                        \
  [[nodiscard]] inline Result name(const DNDarray& x, const AxesArgument auto& axis) { \
    return name(x, Options{.axis = detail::axes_of(axis)});                            \
  }                                                                                    \
  template <std::same_as<int> Int>                                                     \
  [[nodiscard]] Result name(const DNDarray& x, std::initializer_list<Int> axes) {      \
    return name(x, Options{.axis = axes});                                             \
  }

/// Options of functions that reduce axes.
struct ReduceOptions {
  Axes axis = std::nullopt;                      ///< nullopt: all axes
  std::optional<Dtype> dtype = std::nullopt;     ///< dtype of the result; elements are converted first
  bool keepdims = false;                         ///< keep reduced axes with extent 1
  std::optional<Scalar> initial = std::nullopt;  ///< takes part in every result; not for means and counts
  std::optional<DNDarray> where = std::nullopt;  ///< bool, broadcast to `x`: the elements that take part; moved to them
  /// Whether sum, mean, nansum and nanmean of floating numbers are exact and rounded once, with the same bits on any
  /// number of ranks and any layout. HEATPP_REPRODUCIBLE=1 sets this for all.
  bool reproducible = false;
};

}  // namespace heatpp
