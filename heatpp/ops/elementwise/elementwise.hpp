#pragma once

#include <heatpp/ops/operands/operand.hpp>

namespace heatpp::detail {

/// The results of operators. A result takes the memory of an operand that was a temporary if that has the result's
/// dtype and layout. So a chain of operators needs few blocks, which may stay in the cache.
[[nodiscard]] DNDarray sum_of(Operand a, Operand b);
[[nodiscard]] DNDarray difference_of(Operand a, Operand b);
[[nodiscard]] DNDarray product_of(Operand a, Operand b);
[[nodiscard]] DNDarray quotient_of(Operand a, Operand b);

}  // namespace heatpp::detail

namespace heatpp {

/// The array that a result is written to.
class Out {
 public:
  Out() = default;
  Out(DNDarray& array) : array_(&array) {}  // NOLINT: conversion intended
  [[nodiscard]] DNDarray* array() const { return array_; }

 private:
  DNDarray* array_ = nullptr;
};
/// Where the result of an elementwise function goes.
struct OutOptions {
  Out out = {};  ///< the result is written here in its dtype, and this is returned; it sets the layout and the shape
  std::optional<DNDarray> where = std::nullopt;  ///< bool: write only where true; else `out` stays, or the result is 0
};

namespace detail {
/// Writes a result where the options say. Throws as index_put, and TypeError if `out` has another kind of dtype.
DNDarray written_out(const char* op, DNDarray result, const OutOptions& options);
}  // namespace detail

/// Declares the functions of elementwise.inc. Unary ones are local and keep the layout. Binary ones broadcast their
/// operands as NumPy does and take any mix of layouts: the operands that are cheapest to move are redistributed
/// (counted in comm_report(), refused under Redistribution::forbid). Equal or replicated layouts cost no communication.
/// The result is split as the operand that stayed, or as the options say. Throws ValueError for shapes that do not
/// broadcast, CommError for different communicators, TypeError for a dtype without the operation; always on all ranks.
#define HEATPP_UNARY(name, function, doc)                              \
  [[nodiscard]] DNDarray name(const DNDarray& x);                      \
  inline DNDarray name(const DNDarray& x, const OutOptions& options) { \
    return detail::written_out(#name, name(x), options);               \
  }
#define HEATPP_BINARY(name, function, numbers, doc)                                     \
  [[nodiscard]] DNDarray name(const Operand& a, const Operand& b);                      \
  inline DNDarray name(const Operand& a, const Operand& b, const OutOptions& options) { \
    return detail::written_out(#name, name(a, b), options);                             \
  }
#define HEATPP_UNARY_ALIAS(alias, name) \
  [[nodiscard]] inline DNDarray alias(const DNDarray& x) { return name(x); }
#define HEATPP_BINARY_ALIAS(alias, name) \
  [[nodiscard]] inline DNDarray alias(const Operand& a, const Operand& b) { return name(a, b); }
#include <heatpp/ops/elementwise/elementwise.inc>
#undef HEATPP_UNARY
#undef HEATPP_BINARY
#undef HEATPP_UNARY_ALIAS
#undef HEATPP_BINARY_ALIAS

/// Returns `a` where `condition` is true, else `b`. Broadcasts and redistributes as the binary functions.
[[nodiscard]] DNDarray where(const DNDarray& condition, const Operand& a, const Operand& b);
/// Limits `x` to low .. high. Either may be an array, or nullopt for no limit.
[[nodiscard]] DNDarray clip(const DNDarray& x, const std::optional<Operand>& low, const std::optional<Operand>& high);
/// Rounds `x` to `decimals` decimals, halves to even; negative ones round to tens, hundreds and so on. Local.
[[nodiscard]] DNDarray round(const DNDarray& x, int decimals);
[[nodiscard]] inline DNDarray around(const DNDarray& x, int decimals = 0) { return round(x, decimals); }

struct AngleOptions {
  bool deg = false;  ///< in degrees, not radians
};
/// Returns the angle of complex numbers. Local.
[[nodiscard]] DNDarray angle(const DNDarray& x, const AngleOptions& options);

/// The values that replace NaN and the infinities; nullopt: the largest and lowest finite numbers.
struct NanToNumOptions {
  double nan = 0;
  std::optional<double> posinf = std::nullopt;
  std::optional<double> neginf = std::nullopt;
};
/// Replaces NaN and the infinities in `x`. Local.
[[nodiscard]] DNDarray nan_to_num(const DNDarray& x, const NanToNumOptions& options = {});

/// Returns fractions and whole parts, both with the sign of x. Local.
[[nodiscard]] std::pair<DNDarray, DNDarray> modf(const DNDarray& x);
/// Returns mantissas in [0.5, 1) and exponents (int32) such that x = mantissa * 2^exponent. Local.
[[nodiscard]] std::pair<DNDarray, DNDarray> frexp(const DNDarray& x);
/// Returns floor_divide(a, b) and remainder(a, b).
[[nodiscard]] std::pair<DNDarray, DNDarray> divmod(const Operand& a, const Operand& b);

/// The limits of isclose: |a - b| <= atol + rtol * |b|.
struct CloseOptions {
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = false;  ///< whether NaN is close to NaN
};
/// Returns whether elements are close, as bool; equal infinities are. Communicates as the binary functions.
[[nodiscard]] DNDarray isclose(const Operand& a, const Operand& b, const CloseOptions& options = {});

// clang-format off
[[nodiscard]] inline DNDarray operator+(const DNDarray& x) { return positive(x); }
[[nodiscard]] inline DNDarray operator-(const DNDarray& x) { return negative(x); }
[[nodiscard]] inline DNDarray operator~(const DNDarray& x) { return bitwise_not(x); }
[[nodiscard]] inline DNDarray operator+(Operand a, Operand b) { return detail::sum_of(std::move(a), std::move(b)); }
[[nodiscard]] inline DNDarray operator-(Operand a, Operand b) { return detail::difference_of(std::move(a), std::move(b)); }
[[nodiscard]] inline DNDarray operator*(Operand a, Operand b) { return detail::product_of(std::move(a), std::move(b)); }
[[nodiscard]] inline DNDarray operator/(Operand a, Operand b) { return detail::quotient_of(std::move(a), std::move(b)); }
[[nodiscard]] inline DNDarray operator%(const Operand& a, const Operand& b) { return remainder(a, b); }
[[nodiscard]] inline DNDarray operator&(const Operand& a, const Operand& b) { return bitwise_and(a, b); }
[[nodiscard]] inline DNDarray operator|(const Operand& a, const Operand& b) { return bitwise_or(a, b); }
[[nodiscard]] inline DNDarray operator^(const Operand& a, const Operand& b) { return bitwise_xor(a, b); }
[[nodiscard]] inline DNDarray operator!(const DNDarray& x) { return logical_not(x); }
[[nodiscard]] inline DNDarray operator&&(const DNDarray& a, const DNDarray& b) { return logical_and(a, b); }
[[nodiscard]] inline DNDarray operator||(const DNDarray& a, const DNDarray& b) { return logical_or(a, b); }
[[nodiscard]] inline DNDarray operator<<(const DNDarray& a, const Operand& b) { return left_shift(a, b); }
[[nodiscard]] inline DNDarray operator>>(const DNDarray& a, const Operand& b) { return right_shift(a, b); }
[[nodiscard]] inline DNDarray operator<<(const Scalar& a, const DNDarray& b) { return left_shift(a, b); }
[[nodiscard]] inline DNDarray operator>>(const Scalar& a, const DNDarray& b) { return right_shift(a, b); }
[[nodiscard]] inline DNDarray operator==(const Operand& a, const Operand& b) { return eq(a, b); }
[[nodiscard]] inline DNDarray operator!=(const Operand& a, const Operand& b) { return not_equal(a, b); }
[[nodiscard]] inline DNDarray operator<(const Operand& a, const Operand& b) { return less(a, b); }
[[nodiscard]] inline DNDarray operator<=(const Operand& a, const Operand& b) { return less_equal(a, b); }
[[nodiscard]] inline DNDarray operator>(const Operand& a, const Operand& b) { return greater(a, b); }
[[nodiscard]] inline DNDarray operator>=(const Operand& a, const Operand& b) { return greater_equal(a, b); }
// clang-format on

/// Declares the functions of in_place.inc, which change `x`, a named array or a selection `y(...)`. It keeps its dtype,
/// shape and layout; `b` is broadcast and moved to it. Other arrays do not change. Throws ValueError if `b` does not
/// broadcast to x's shape or `x` is not writable, TypeError if the dtype of `b` is of a later kind than x's (bool,
/// unsigned, signed, floating, complex) or the result does not fit it.
#define HEATPP_IN_PLACE(name, written, doc)      \
  DNDarray& name(DNDarray& x, const Operand& b); \
  DNDarray name(Selection&& x, const Operand& b);
#define HEATPP_IN_PLACE_ALIAS(alias, name)                                     \
  inline DNDarray& alias(DNDarray& x, const Operand& b) { return name(x, b); } \
  inline DNDarray alias(Selection&& x, const Operand& b) { return name(std::move(x), b); }
#define HEATPP_IN_PLACE_OPERATOR(op, name)                                           \
  inline DNDarray& operator op(DNDarray& x, const Operand& b) { return name(x, b); } \
  inline DNDarray operator op(Selection&& x, const Operand& b) { return name(std::move(x), b); }
#include <heatpp/ops/elementwise/in_place.inc>
#undef HEATPP_IN_PLACE
#undef HEATPP_IN_PLACE_ALIAS
#undef HEATPP_IN_PLACE_OPERATOR
/// These functions of one array work in place. Local. They throw TypeError for bool; invert_ also for floats.
DNDarray& negative_(DNDarray& x);
DNDarray negative_(Selection&& x);
DNDarray& bitwise_not_(DNDarray& x);
DNDarray bitwise_not_(Selection&& x);
DNDarray& nan_to_num_(DNDarray& x, const NanToNumOptions& options = {});
DNDarray nan_to_num_(Selection&& x, const NanToNumOptions& options = {});
inline DNDarray& neg_(DNDarray& x) { return negative_(x); }
inline DNDarray neg_(Selection&& x) { return negative_(std::move(x)); }
inline DNDarray& invert_(DNDarray& x) { return bitwise_not_(x); }
inline DNDarray invert_(Selection&& x) { return bitwise_not_(std::move(x)); }

}  // namespace heatpp
