#pragma once

#include "../support.hpp"

/// Returns whole numbers of both signs, whose sums are exact in every dtype.
inline at::Tensor numbers(at::IntArrayRef shape, at::ScalarType type = at::kLong) {
  std::int64_t size = 1;
  for (const auto n : shape) size *= n;
  return (at::arange(size, at::kLong) * 7 % 11 - 4).reshape(shape).to(type);
}

/// Returns well-conditioned pseudo-random numbers, equal on every rank.
inline at::Tensor scattered(at::IntArrayRef shape, at::ScalarType type = at::kDouble) {
  std::int64_t size = 1;
  for (const auto n : shape) size *= n;
  const auto real = at::sin(at::arange(size, at::kDouble).square() * 1.7 + 0.3).reshape(shape);
  return at::isComplexType(type) ? at::complex(real, at::cos(real * 9)).to(type) : real.to(type);
}

inline ht::Shape shape_of(const at::Tensor& x) { return {x.sizes().begin(), x.sizes().end()}; }

/// Runs f(x) for every layout.
template <class F>
void for_each_layout(const at::Tensor& a, F f) {
  for (const auto& layout : every_layout(shape_of(a))) f(distribute(a, layout));
}

/// Runs f(a, b) for every pair of layouts.
template <class F>
void for_each_pair(const at::Tensor& a, const at::Tensor& b, F f) {
  for_each_layout(a, [&](const ht::DNDarray& x) { for_each_layout(b, [&](const ht::DNDarray& y) { f(x, y); }); });
}

/// Returns these as an array that every rank has.
inline ht::DNDarray scattered_array(at::IntArrayRef shape) { return ht::from_tensor(scattered(shape)); }
