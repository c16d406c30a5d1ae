#pragma once

#include <heatpp/core/dndarray.hpp>
#include <initializer_list>

namespace heatpp {

/// One axis, several or all: `1`, `{0, 2}`, `std::nullopt`. Negative ones count from the end.
class Axes {
 public:
  Axes(std::nullopt_t) : all_(true) {}                       // NOLINT: conversion intended
  Axes(int axis) : values_{axis} {}                          // NOLINT: conversion intended
  Axes(std::initializer_list<int> axes) : values_(axes) {}   // NOLINT: conversion intended
  Axes(std::vector<int> axes) : values_(std::move(axes)) {}  // NOLINT: conversion intended
  [[nodiscard]] bool all() const { return all_; }
  [[nodiscard]] const std::vector<int>& values() const { return values_; }

 private:
  bool all_ = false;
  std::vector<int> values_;
};

/// Options of every function that reduces axes.
struct ReduceOptions {
  Axes axis = std::nullopt;                      ///< nullopt: all axes
  std::optional<Dtype> dtype = std::nullopt;     ///< to which elements are converted first, and of the result
  bool keepdims = false;                         ///< keep reduced axes with extent 1
  std::optional<Scalar> initial = std::nullopt;  ///< takes part in every result; means and counts have none
  std::optional<DNDarray> where = std::nullopt;  ///< bool, broadcast to `x`: the elements that take part; moved to them
};

}  // namespace heatpp
