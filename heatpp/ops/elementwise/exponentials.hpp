#pragma once

#include <heatpp/ops/elementwise/out.hpp>

namespace heatpp {

// Functions of one array. They are local and keep its layout. They throw TypeError for a dtype without the operation.
// They convert whole numbers to the floating dtype that inexact_type returns.

/// Returns the square root; NaN for negative numbers.
[[nodiscard]] DNDarray sqrt(const DNDarray& x);
DNDarray sqrt(const DNDarray& x, const OutOptions& options);

/// Returns the cube root.
[[nodiscard]] DNDarray cbrt(const DNDarray& x);
DNDarray cbrt(const DNDarray& x, const OutOptions& options);

/// Returns e to the power x.
[[nodiscard]] DNDarray exp(const DNDarray& x);
DNDarray exp(const DNDarray& x, const OutOptions& options);

/// Returns 2 to the power x.
[[nodiscard]] DNDarray exp2(const DNDarray& x);
DNDarray exp2(const DNDarray& x, const OutOptions& options);

/// Returns exp(x) - 1, accurate near 0.
[[nodiscard]] DNDarray expm1(const DNDarray& x);
DNDarray expm1(const DNDarray& x, const OutOptions& options);

/// Returns the natural logarithm.
[[nodiscard]] DNDarray log(const DNDarray& x);
DNDarray log(const DNDarray& x, const OutOptions& options);

/// Returns the logarithm to base 2.
[[nodiscard]] DNDarray log2(const DNDarray& x);
DNDarray log2(const DNDarray& x, const OutOptions& options);

/// Returns the logarithm to base 10.
[[nodiscard]] DNDarray log10(const DNDarray& x);
DNDarray log10(const DNDarray& x, const OutOptions& options);

/// Returns log(1 + x), accurate near 0.
[[nodiscard]] DNDarray log1p(const DNDarray& x);
DNDarray log1p(const DNDarray& x, const OutOptions& options);

/// Returns the modified Bessel function of the first kind, of order 0.
[[nodiscard]] DNDarray i0(const DNDarray& x);
DNDarray i0(const DNDarray& x, const OutOptions& options);

// Functions of two operands. They broadcast as NumPy does and take any mix of layouts; equal or replicated layouts cost
// no communication. elementwise.hpp states the layout of the result, the communication and the errors.
// Their results are floating numbers.

/// Returns log(exp(a) + exp(b)) without overflow.
[[nodiscard]] DNDarray logaddexp(const Operand& a, const Operand& b);
DNDarray logaddexp(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns log2(2^a + 2^b) without overflow.
[[nodiscard]] DNDarray logaddexp2(const Operand& a, const Operand& b);
DNDarray logaddexp2(const Operand& a, const Operand& b, const OutOptions& options);

}  // namespace heatpp
