#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace heatpp {

/// Extents of an array, one for each axis: a vector that streams can print.
class Shape : public std::vector<std::int64_t> {
 public:
  using std::vector<std::int64_t>::vector;
  Shape(const Shape&) = default;
  Shape(Shape&&) noexcept = default;
  Shape& operator=(const Shape&) = default;
  Shape& operator=(Shape&&) noexcept = default;
  ~Shape() = default;
  template <std::same_as<std::vector<std::int64_t>> V>
  Shape(V extents) : std::vector<std::int64_t>(std::move(extents)) {}  // NOLINT: conversion intended
};

/// "(4096, 512)".
[[nodiscard]] std::string to_string(const Shape& shape);
std::ostream& operator<<(std::ostream& out, const Shape& shape);
/// "split 0" or "split none".
[[nodiscard]] std::string to_string(const std::optional<int>& split);

/// Product of the extents. Throws ValueError for a negative one and where the product does not fit 63 bits.
[[nodiscard]] std::int64_t size_of(const Shape& shape);

/// The shape to which arrays of these shapes broadcast (NumPy's rule). Throws ValueError naming `op` where there is
/// none.
[[nodiscard]] Shape broadcast_shapes(const Shape& a, const Shape& b, const char* op = "broadcast_shapes");

/// The same for any number of shapes.
[[nodiscard]] Shape broadcast_shapes(const std::vector<Shape>& shapes);
/// HeAT's name for it.
[[nodiscard]] inline Shape broadcast_shape(const Shape& a, const Shape& b) { return broadcast_shapes(a, b); }

/// `shape`, whose extents must not be negative. Throws ValueError.
[[nodiscard]] Shape sanitize_shape(const Shape& shape);

/// The axis in 0 .. ndim-1 that `axis` means; negative ones count from the end. Throws IndexError naming `op`.
[[nodiscard]] int sanitize_axis(int axis, int ndim, const char* op);

namespace detail {
/// Whether an array of shape `from` broadcasts to `to`.
[[nodiscard]] bool broadcasts_to(const Shape& from, const Shape& to);
}  // namespace detail

}  // namespace heatpp
