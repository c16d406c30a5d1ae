#pragma once

#include <heatpp/ops/elementwise/out.hpp>

namespace heatpp {

// Functions of one array. They are local and keep its layout. They throw TypeError for a dtype without the operation.

/// Returns the number with all bits inverted; for bool the negation.
[[nodiscard]] DNDarray bitwise_not(const DNDarray& x);
DNDarray bitwise_not(const DNDarray& x, const OutOptions& options);
/// Another name of `bitwise_not`.
[[nodiscard]] inline DNDarray invert(const DNDarray& x) { return bitwise_not(x); }
/// Another name of `bitwise_not`.
[[nodiscard]] inline DNDarray bitwise_invert(const DNDarray& x) { return bitwise_not(x); }

/// Returns the number of bits set in |x|, as uint8.
[[nodiscard]] DNDarray bitwise_count(const DNDarray& x);
DNDarray bitwise_count(const DNDarray& x, const OutOptions& options);

// Functions of two operands. They broadcast as NumPy does and take any mix of layouts; equal or replicated layouts cost
// no communication. elementwise.hpp states the layout of the result, the communication and the errors.
// A whole number beside an array of whole numbers must be in the range of its dtype; otherwise they throw ValueError.

/// Returns the bits that are set in both a and b.
[[nodiscard]] DNDarray bitwise_and(const Operand& a, const Operand& b);
DNDarray bitwise_and(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns the bits that are set in a, b or both.
[[nodiscard]] DNDarray bitwise_or(const Operand& a, const Operand& b);
DNDarray bitwise_or(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns the bits that are set in exactly one of a and b.
[[nodiscard]] DNDarray bitwise_xor(const Operand& a, const Operand& b);
DNDarray bitwise_xor(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns a * 2^b by shifting bits.
[[nodiscard]] DNDarray left_shift(const Operand& a, const Operand& b);
DNDarray left_shift(const Operand& a, const Operand& b, const OutOptions& options);
/// Another name of `left_shift`.
[[nodiscard]] inline DNDarray bitwise_left_shift(const Operand& a, const Operand& b) { return left_shift(a, b); }

/// Returns floor(a / 2^b) by shifting bits.
[[nodiscard]] DNDarray right_shift(const Operand& a, const Operand& b);
DNDarray right_shift(const Operand& a, const Operand& b, const OutOptions& options);
/// Another name of `right_shift`.
[[nodiscard]] inline DNDarray bitwise_right_shift(const Operand& a, const Operand& b) { return right_shift(a, b); }

}  // namespace heatpp
