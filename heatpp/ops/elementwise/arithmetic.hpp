#pragma once

#include <heatpp/ops/elementwise/out.hpp>

namespace heatpp {

// Functions of one array. They are local and keep its layout. They throw TypeError for a dtype without the operation.

/// Returns the absolute value; for complex numbers the modulus.
[[nodiscard]] DNDarray abs(const DNDarray& x);
DNDarray abs(const DNDarray& x, const OutOptions& options);
/// Another name of `abs`.
[[nodiscard]] inline DNDarray absolute(const DNDarray& x) { return abs(x); }

/// Returns the absolute value in floating point.
[[nodiscard]] DNDarray fabs(const DNDarray& x);
DNDarray fabs(const DNDarray& x, const OutOptions& options);

/// Returns -x.
[[nodiscard]] DNDarray negative(const DNDarray& x);
DNDarray negative(const DNDarray& x, const OutOptions& options);
/// Another name of `negative`.
[[nodiscard]] inline DNDarray neg(const DNDarray& x) { return negative(x); }

/// Returns +x.
[[nodiscard]] DNDarray positive(const DNDarray& x);
DNDarray positive(const DNDarray& x, const OutOptions& options);
/// Another name of `positive`.
[[nodiscard]] inline DNDarray pos(const DNDarray& x) { return positive(x); }

/// Returns -1, 0 or 1, and NaN for NaN; for complex numbers x / |x|.
[[nodiscard]] DNDarray sign(const DNDarray& x);
DNDarray sign(const DNDarray& x, const OutOptions& options);
/// Another name of `sign`.
[[nodiscard]] inline DNDarray sgn(const DNDarray& x) { return sign(x); }

/// Returns x * x.
[[nodiscard]] DNDarray square(const DNDarray& x);
DNDarray square(const DNDarray& x, const OutOptions& options);

/// Returns 1 / x; for whole numbers without its fraction, and 0 if x is 0.
[[nodiscard]] DNDarray reciprocal(const DNDarray& x);
DNDarray reciprocal(const DNDarray& x, const OutOptions& options);

// Functions of two operands. They broadcast as NumPy does and take any mix of layouts; equal or replicated layouts cost
// no communication. elementwise.hpp states the layout of the result, the communication and the errors.
// A whole number beside an array of whole numbers must be in the range of its dtype, except for divide and float_power;
// otherwise they throw ValueError.

/// Returns a + b.
[[nodiscard]] DNDarray add(const Operand& a, const Operand& b);
DNDarray add(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns a - b.
[[nodiscard]] DNDarray subtract(const Operand& a, const Operand& b);
DNDarray subtract(const Operand& a, const Operand& b, const OutOptions& options);
/// Another name of `subtract`.
[[nodiscard]] inline DNDarray sub(const Operand& a, const Operand& b) { return subtract(a, b); }

/// Returns a * b.
[[nodiscard]] DNDarray multiply(const Operand& a, const Operand& b);
DNDarray multiply(const Operand& a, const Operand& b, const OutOptions& options);
/// Another name of `multiply`.
[[nodiscard]] inline DNDarray mul(const Operand& a, const Operand& b) { return multiply(a, b); }

/// Returns a / b in floating point.
[[nodiscard]] DNDarray divide(const Operand& a, const Operand& b);
DNDarray divide(const Operand& a, const Operand& b, const OutOptions& options);
/// Another name of `divide`.
[[nodiscard]] inline DNDarray div(const Operand& a, const Operand& b) { return divide(a, b); }
/// Another name of `divide`.
[[nodiscard]] inline DNDarray true_divide(const Operand& a, const Operand& b) { return divide(a, b); }

/// Returns the largest whole number <= a / b; for whole numbers 0 if b is 0.
[[nodiscard]] DNDarray floor_divide(const Operand& a, const Operand& b);
DNDarray floor_divide(const Operand& a, const Operand& b, const OutOptions& options);
/// Another name of `floor_divide`.
[[nodiscard]] inline DNDarray floordiv(const Operand& a, const Operand& b) { return floor_divide(a, b); }

/// Returns a - floor_divide(a, b) * b, which has the sign of b; for whole numbers 0 if b is 0.
[[nodiscard]] DNDarray remainder(const Operand& a, const Operand& b);
DNDarray remainder(const Operand& a, const Operand& b, const OutOptions& options);
/// Another name of `remainder`.
[[nodiscard]] inline DNDarray mod(const Operand& a, const Operand& b) { return remainder(a, b); }

/// Returns the remainder with the sign of a; for whole numbers 0 if b is 0.
[[nodiscard]] DNDarray fmod(const Operand& a, const Operand& b);
DNDarray fmod(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns floor_divide(a, b) and remainder(a, b).
[[nodiscard]] std::pair<DNDarray, DNDarray> divmod(const Operand& a, const Operand& b);

/// Returns a to the power b; for whole numbers 0 if b is negative and |a| > 1.
[[nodiscard]] DNDarray power(const Operand& a, const Operand& b);
DNDarray power(const Operand& a, const Operand& b, const OutOptions& options);
/// Another name of `power`.
[[nodiscard]] inline DNDarray pow(const Operand& a, const Operand& b) { return power(a, b); }

/// Returns a to the power b in float64 or complex128.
[[nodiscard]] DNDarray float_power(const Operand& a, const Operand& b);
DNDarray float_power(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns the greatest common divisor of whole numbers.
[[nodiscard]] DNDarray gcd(const Operand& a, const Operand& b);
DNDarray gcd(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns the least common multiple of whole numbers.
[[nodiscard]] DNDarray lcm(const Operand& a, const Operand& b);
DNDarray lcm(const Operand& a, const Operand& b, const OutOptions& options);

}  // namespace heatpp
