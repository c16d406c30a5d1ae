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
/// Returns "split 0" or "split none".
[[nodiscard]] std::string to_string(const std::optional<int>& split);

/// Returns the product of the extents. Throws ValueError if one is negative or the product exceeds 63 bits.
[[nodiscard]] std::int64_t size_of(const Shape& shape);

/// Returns the shape to which arrays of these shapes broadcast (NumPy's rule). Throws ValueError naming `op` if there
/// is none.
[[nodiscard]] Shape broadcast_shapes(const Shape& a, const Shape& b, const char* op = "broadcast_shapes");

/// Returns the common shape of any number of shapes.
[[nodiscard]] Shape broadcast_shapes(const std::vector<Shape>& shapes);
/// Does broadcast_shapes, by HeAT's name.
[[nodiscard]] inline Shape broadcast_shape(const Shape& a, const Shape& b) { return broadcast_shapes(a, b); }

/// Returns `shape`. Throws ValueError if an extent is negative.
[[nodiscard]] Shape sanitize_shape(const Shape& shape);

/// Returns `axis` as 0 .. ndim-1; negative ones count from the end. Throws IndexError naming `op`.
[[nodiscard]] int sanitize_axis(int axis, int ndim, const char* op);

namespace detail {
/// Whether an array of shape `from` broadcasts to `to`.
[[nodiscard]] bool broadcasts_to(const Shape& from, const Shape& to);
}  // namespace detail

}  // namespace heatpp
