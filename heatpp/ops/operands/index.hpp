#pragma once

#include <concepts>
#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/scalar.hpp>
#include <heatpp/core/slice.hpp>

namespace heatpp {

struct Ellipsis {};
struct NewAxis {};
/// Stands for as many whole axes as are left.
inline constexpr Ellipsis ellipsis{};
/// Stands for a new axis of extent 1.
inline constexpr NewAxis newaxis{};
/// Stands for a whole axis.
inline constexpr Slice all_of{};

/// One entry of an index: a position, a slice, `ellipsis`, `newaxis`, an array of positions (any integer dtype, shape
/// and order, also negative and repeated ones), or a boolean mask over as many axes as it has. Vectors of positions and
/// of truth values are equal on all ranks.
class Index {
 public:
  Index(bool mask) : value_(mask) {}                                            // NOLINT: conversion intended
  Index(int position) : value_(std::int64_t{position}) {}                       // NOLINT: conversion intended
  Index(const Slice& slice) : value_(slice) {}                                  // NOLINT: conversion intended
  Index(Ellipsis) : value_(ellipsis) {}                                         // NOLINT: conversion intended
  Index(NewAxis) : value_(newaxis) {}                                           // NOLINT: conversion intended
  Index(const DNDarray& array) : value_(array) {}                               // NOLINT: conversion intended
  Index(std::vector<std::int64_t> positions) : value_(std::move(positions)) {}  // NOLINT: conversion intended
  Index(std::vector<bool> mask) : value_(std::move(mask)) {}                    // NOLINT: conversion intended
  template <std::integral T>
  requires(!std::same_as<T, std::int64_t> && !std::same_as<T, bool>)
      Index(const std::vector<T>& positions)  // NOLINT: conversion intended
      : value_(std::vector<std::int64_t>(positions.begin(), positions.end())) {}
  template <std::integral T>
  Index(T position) : value_(Scalar(position).to<std::int64_t>()) {}  // NOLINT: conversion intended
  template <class T>
  Index(T*) = delete;  // a pointer would be a truth value
  template <std::floating_point T>
  Index(T) {  // NOLINT: to say what is wrong
    static_assert(detail::never<T>, "an index is a whole number, a slice, an array, ht::ellipsis or ht::newaxis");
  }

  using Value = std::variant<std::int64_t, Slice, Ellipsis, NewAxis, DNDarray, bool, std::vector<std::int64_t>,
                             std::vector<bool>>;
  [[nodiscard]] const Value& value() const { return value_; }

 private:
  Value value_;
};

}  // namespace heatpp
