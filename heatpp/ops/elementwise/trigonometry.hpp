#pragma once

#include <heatpp/ops/elementwise/out.hpp>

namespace heatpp {

// Functions of one array. They are local and keep its layout. They throw TypeError for a dtype without the operation.
// They convert whole numbers to the floating dtype that inexact_type returns.

/// Returns the sine of x in radians.
[[nodiscard]] DNDarray sin(const DNDarray& x);
DNDarray sin(const DNDarray& x, const OutOptions& options);

/// Returns the cosine of x in radians.
[[nodiscard]] DNDarray cos(const DNDarray& x);
DNDarray cos(const DNDarray& x, const OutOptions& options);

/// Returns the tangent of x in radians.
[[nodiscard]] DNDarray tan(const DNDarray& x);
DNDarray tan(const DNDarray& x, const OutOptions& options);

/// Returns the inverse sine in radians.
[[nodiscard]] DNDarray arcsin(const DNDarray& x);
DNDarray arcsin(const DNDarray& x, const OutOptions& options);
/// Another name of `arcsin`.
[[nodiscard]] inline DNDarray asin(const DNDarray& x) { return arcsin(x); }

/// Returns the inverse cosine in radians.
[[nodiscard]] DNDarray arccos(const DNDarray& x);
DNDarray arccos(const DNDarray& x, const OutOptions& options);
/// Another name of `arccos`.
[[nodiscard]] inline DNDarray acos(const DNDarray& x) { return arccos(x); }

/// Returns the inverse tangent in radians.
[[nodiscard]] DNDarray arctan(const DNDarray& x);
DNDarray arctan(const DNDarray& x, const OutOptions& options);
/// Another name of `arctan`.
[[nodiscard]] inline DNDarray atan(const DNDarray& x) { return arctan(x); }

/// Returns the hyperbolic sine.
[[nodiscard]] DNDarray sinh(const DNDarray& x);
DNDarray sinh(const DNDarray& x, const OutOptions& options);

/// Returns the hyperbolic cosine.
[[nodiscard]] DNDarray cosh(const DNDarray& x);
DNDarray cosh(const DNDarray& x, const OutOptions& options);

/// Returns the hyperbolic tangent.
[[nodiscard]] DNDarray tanh(const DNDarray& x);
DNDarray tanh(const DNDarray& x, const OutOptions& options);

/// Returns the inverse hyperbolic sine.
[[nodiscard]] DNDarray arcsinh(const DNDarray& x);
DNDarray arcsinh(const DNDarray& x, const OutOptions& options);
/// Another name of `arcsinh`.
[[nodiscard]] inline DNDarray asinh(const DNDarray& x) { return arcsinh(x); }

/// Returns the inverse hyperbolic cosine.
[[nodiscard]] DNDarray arccosh(const DNDarray& x);
DNDarray arccosh(const DNDarray& x, const OutOptions& options);
/// Another name of `arccosh`.
[[nodiscard]] inline DNDarray acosh(const DNDarray& x) { return arccosh(x); }

/// Returns the inverse hyperbolic tangent.
[[nodiscard]] DNDarray arctanh(const DNDarray& x);
DNDarray arctanh(const DNDarray& x, const OutOptions& options);
/// Another name of `arctanh`.
[[nodiscard]] inline DNDarray atanh(const DNDarray& x) { return arctanh(x); }

/// Converts degrees to radians.
[[nodiscard]] DNDarray deg2rad(const DNDarray& x);
DNDarray deg2rad(const DNDarray& x, const OutOptions& options);
/// Another name of `deg2rad`.
[[nodiscard]] inline DNDarray radians(const DNDarray& x) { return deg2rad(x); }

/// Converts radians to degrees.
[[nodiscard]] DNDarray rad2deg(const DNDarray& x);
DNDarray rad2deg(const DNDarray& x, const OutOptions& options);
/// Another name of `rad2deg`.
[[nodiscard]] inline DNDarray degrees(const DNDarray& x) { return rad2deg(x); }

/// Returns sin(pi x) / (pi x).
[[nodiscard]] DNDarray sinc(const DNDarray& x);
DNDarray sinc(const DNDarray& x, const OutOptions& options);

// Functions of two operands. They broadcast as NumPy does and take any mix of layouts; equal or replicated layouts cost
// no communication. elementwise.hpp states the layout of the result, the communication and the errors.
// Their results are floating numbers.

/// Returns the angle of the point (b, a) in radians.
[[nodiscard]] DNDarray arctan2(const Operand& a, const Operand& b);
DNDarray arctan2(const Operand& a, const Operand& b, const OutOptions& options);
/// Another name of `arctan2`.
[[nodiscard]] inline DNDarray atan2(const Operand& a, const Operand& b) { return arctan2(a, b); }

/// Returns sqrt(a * a + b * b) without overflow.
[[nodiscard]] DNDarray hypot(const Operand& a, const Operand& b);
DNDarray hypot(const Operand& a, const Operand& b, const OutOptions& options);

}  // namespace heatpp
