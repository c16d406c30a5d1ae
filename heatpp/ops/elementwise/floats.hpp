#pragma once

#include <heatpp/ops/elementwise/out.hpp>

namespace heatpp {

// Functions of one array. They are local and keep its layout. They throw TypeError for a dtype without the operation.

/// Returns whether x is NaN, as bool.
[[nodiscard]] DNDarray isnan(const DNDarray& x);
DNDarray isnan(const DNDarray& x, const OutOptions& options);

/// Returns whether x is infinite, as bool.
[[nodiscard]] DNDarray isinf(const DNDarray& x);
DNDarray isinf(const DNDarray& x, const OutOptions& options);

/// Returns whether x is neither infinite nor NaN, as bool.
[[nodiscard]] DNDarray isfinite(const DNDarray& x);
DNDarray isfinite(const DNDarray& x, const OutOptions& options);

/// Returns whether x is +inf, as bool.
[[nodiscard]] DNDarray isposinf(const DNDarray& x);
DNDarray isposinf(const DNDarray& x, const OutOptions& options);

/// Returns whether x is -inf, as bool.
[[nodiscard]] DNDarray isneginf(const DNDarray& x);
DNDarray isneginf(const DNDarray& x, const OutOptions& options);

/// Returns whether the sign is set, also of -0.0, as bool.
[[nodiscard]] DNDarray signbit(const DNDarray& x);
DNDarray signbit(const DNDarray& x, const OutOptions& options);

/// Returns the distance to the next number away from 0.
[[nodiscard]] DNDarray spacing(const DNDarray& x);
DNDarray spacing(const DNDarray& x, const OutOptions& options);

/// The values that replace NaN and the infinities; nullopt: the largest and lowest finite numbers.
struct NanToNumOptions {
  double nan = 0;
  std::optional<double> posinf = std::nullopt;
  std::optional<double> neginf = std::nullopt;
};
/// Replaces NaN and the infinities in `x`. Local.
[[nodiscard]] DNDarray nan_to_num(const DNDarray& x, const NanToNumOptions& options = {});

/// Returns mantissas in [0.5, 1) and exponents (int32) such that x = mantissa * 2^exponent. Local.
[[nodiscard]] std::pair<DNDarray, DNDarray> frexp(const DNDarray& x);

// Functions of two operands. They broadcast as NumPy does and take any mix of layouts; equal or replicated layouts cost
// no communication. elementwise.hpp states the layout of the result, the communication and the errors.
// Their results are floating numbers.

/// Returns |a| with the sign of b.
[[nodiscard]] DNDarray copysign(const Operand& a, const Operand& b);
DNDarray copysign(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns the next number after a in the direction of b.
[[nodiscard]] DNDarray nextafter(const Operand& a, const Operand& b);
DNDarray nextafter(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns 0 if a < 0, b if a is 0, and 1 if a > 0.
[[nodiscard]] DNDarray heaviside(const Operand& a, const Operand& b);
DNDarray heaviside(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns a * 2^b, rounded once. Throws TypeError unless b are whole numbers.
[[nodiscard]] DNDarray ldexp(const Operand& a, const Operand& b);
DNDarray ldexp(const Operand& a, const Operand& b, const OutOptions& options);

}  // namespace heatpp
