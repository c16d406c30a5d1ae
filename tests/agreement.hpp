#pragma once

#include "with_aten.hpp"

#include <functional>
#include <ostream>
#include <string>
#include <vector>

/// Whether two arrays agree. If a CHECK of it fails, Catch2 prints `difference`.
struct Agreement {
  bool agrees = true;
  std::string difference = {};
  operator bool() const { return agrees; }  // NOLINT: conversion intended
};
inline std::ostream& operator<<(std::ostream& out, const Agreement& found) {
  return out << (found.agrees ? "agrees" : found.difference);
}

/// Compares dtypes, shapes, and elements by `right`, which gives true for each element that is as expected. Names the
/// first index that differs, with both values.
Agreement compared(const at::Tensor& got, const at::Tensor& expected,
                   const std::function<at::Tensor(const at::Tensor& got, const at::Tensor& expected)>& right);
/// Whether two tensors have the same dtype, shape and elements. NaN differs from NaN.
Agreement equals(const at::Tensor& got, const at::Tensor& expected);
/// Whether two tensors have the same dtype, and elements that differ by at most `absolute` plus `relative` times the
/// expected ones. Shapes broadcast, as in at::allclose. NaN differs from NaN unless `equal_nan` is true.
Agreement near_to(const at::Tensor& got, const at::Tensor& expected, double relative = 1e-5, double absolute = 1e-8,
                  bool equal_nan = false);
/// Whether each element is `expected`, which may be NaN.
Agreement each_is(const at::Tensor& got, const at::Scalar& expected);
/// Whether a condition holds for each of the values. Names the first value for which it does not.
Agreement for_all(const at::Tensor& values, const at::Tensor& holds);
inline Agreement all_finite(const at::Tensor& values) { return for_all(values, at::isfinite(values)); }
/// Whether tensors are the same in number, dtype, shape and elements.
Agreement equal(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& expected);
