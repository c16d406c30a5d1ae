#pragma once

#include <heatpp/ops/elementwise/floats.hpp>

namespace heatpp {

// Functions in place. They change `x`, a named array or a selection `y(...)`. It keeps its dtype, shape and layout; `b`
// is broadcast and moved to it. Other arrays do not change. They throw ValueError if `b` does not broadcast to x's
// shape or `x` is not writable, TypeError if the dtype of `b` is of a later kind than x's (bool, unsigned, signed,
// floating, complex) or the result does not fit it.

/// Replaces x by x + b.
DNDarray& add_(DNDarray& x, const Operand& b);
DNDarray add_(Selection&& x, const Operand& b);

/// Replaces x by x - b.
DNDarray& subtract_(DNDarray& x, const Operand& b);
DNDarray subtract_(Selection&& x, const Operand& b);
/// Another name of `subtract_`.
inline DNDarray& sub_(DNDarray& x, const Operand& b) { return subtract_(x, b); }
inline DNDarray sub_(Selection&& x, const Operand& b) { return subtract_(std::move(x), b); }

/// Replaces x by x * b.
DNDarray& multiply_(DNDarray& x, const Operand& b);
DNDarray multiply_(Selection&& x, const Operand& b);
/// Another name of `multiply_`.
inline DNDarray& mul_(DNDarray& x, const Operand& b) { return multiply_(x, b); }
inline DNDarray mul_(Selection&& x, const Operand& b) { return multiply_(std::move(x), b); }

/// Replaces x by x / b.
DNDarray& divide_(DNDarray& x, const Operand& b);
DNDarray divide_(Selection&& x, const Operand& b);
/// Another name of `divide_`.
inline DNDarray& div_(DNDarray& x, const Operand& b) { return divide_(x, b); }
inline DNDarray div_(Selection&& x, const Operand& b) { return divide_(std::move(x), b); }

/// Replaces x by floor_divide(x, b).
DNDarray& floor_divide_(DNDarray& x, const Operand& b);
DNDarray floor_divide_(Selection&& x, const Operand& b);
/// Another name of `floor_divide_`.
inline DNDarray& floordiv_(DNDarray& x, const Operand& b) { return floor_divide_(x, b); }
inline DNDarray floordiv_(Selection&& x, const Operand& b) { return floor_divide_(std::move(x), b); }

/// Replaces x by remainder(x, b).
DNDarray& remainder_(DNDarray& x, const Operand& b);
DNDarray remainder_(Selection&& x, const Operand& b);
/// Another name of `remainder_`.
inline DNDarray& mod_(DNDarray& x, const Operand& b) { return remainder_(x, b); }
inline DNDarray mod_(Selection&& x, const Operand& b) { return remainder_(std::move(x), b); }

/// Replaces x by fmod(x, b).
DNDarray& fmod_(DNDarray& x, const Operand& b);
DNDarray fmod_(Selection&& x, const Operand& b);

/// Replaces x by x to the power b.
DNDarray& power_(DNDarray& x, const Operand& b);
DNDarray power_(Selection&& x, const Operand& b);
/// Another name of `power_`.
inline DNDarray& pow_(DNDarray& x, const Operand& b) { return power_(x, b); }
inline DNDarray pow_(Selection&& x, const Operand& b) { return power_(std::move(x), b); }

/// Replaces x by the bits that are set in both x and b.
DNDarray& bitwise_and_(DNDarray& x, const Operand& b);
DNDarray bitwise_and_(Selection&& x, const Operand& b);

/// Replaces x by the bits that are set in x, b or both.
DNDarray& bitwise_or_(DNDarray& x, const Operand& b);
DNDarray bitwise_or_(Selection&& x, const Operand& b);

/// Replaces x by the bits that are set in exactly one of x and b.
DNDarray& bitwise_xor_(DNDarray& x, const Operand& b);
DNDarray bitwise_xor_(Selection&& x, const Operand& b);

/// Replaces x by left_shift(x, b).
DNDarray& left_shift_(DNDarray& x, const Operand& b);
DNDarray left_shift_(Selection&& x, const Operand& b);

/// Replaces x by right_shift(x, b).
DNDarray& right_shift_(DNDarray& x, const Operand& b);
DNDarray right_shift_(Selection&& x, const Operand& b);

/// Replaces x by the greatest common divisor of x and b.
DNDarray& gcd_(DNDarray& x, const Operand& b);
DNDarray gcd_(Selection&& x, const Operand& b);

/// Replaces x by the least common multiple of x and b.
DNDarray& lcm_(DNDarray& x, const Operand& b);
DNDarray lcm_(Selection&& x, const Operand& b);

/// Replaces x by |x| with the sign of b.
DNDarray& copysign_(DNDarray& x, const Operand& b);
DNDarray copysign_(Selection&& x, const Operand& b);

/// Replaces x by hypot(x, b).
DNDarray& hypot_(DNDarray& x, const Operand& b);
DNDarray hypot_(Selection&& x, const Operand& b);

inline DNDarray& operator+=(DNDarray& x, const Operand& b) { return add_(x, b); }
inline DNDarray operator+=(Selection&& x, const Operand& b) { return add_(std::move(x), b); }
inline DNDarray& operator-=(DNDarray& x, const Operand& b) { return subtract_(x, b); }
inline DNDarray operator-=(Selection&& x, const Operand& b) { return subtract_(std::move(x), b); }
inline DNDarray& operator*=(DNDarray& x, const Operand& b) { return multiply_(x, b); }
inline DNDarray operator*=(Selection&& x, const Operand& b) { return multiply_(std::move(x), b); }
inline DNDarray& operator/=(DNDarray& x, const Operand& b) { return divide_(x, b); }
inline DNDarray operator/=(Selection&& x, const Operand& b) { return divide_(std::move(x), b); }
inline DNDarray& operator%=(DNDarray& x, const Operand& b) { return remainder_(x, b); }
inline DNDarray operator%=(Selection&& x, const Operand& b) { return remainder_(std::move(x), b); }
inline DNDarray& operator&=(DNDarray& x, const Operand& b) { return bitwise_and_(x, b); }
inline DNDarray operator&=(Selection&& x, const Operand& b) { return bitwise_and_(std::move(x), b); }
inline DNDarray& operator|=(DNDarray& x, const Operand& b) { return bitwise_or_(x, b); }
inline DNDarray operator|=(Selection&& x, const Operand& b) { return bitwise_or_(std::move(x), b); }
inline DNDarray& operator^=(DNDarray& x, const Operand& b) { return bitwise_xor_(x, b); }
inline DNDarray operator^=(Selection&& x, const Operand& b) { return bitwise_xor_(std::move(x), b); }
inline DNDarray& operator<<=(DNDarray& x, const Operand& b) { return left_shift_(x, b); }
inline DNDarray operator<<=(Selection&& x, const Operand& b) { return left_shift_(std::move(x), b); }
inline DNDarray& operator>>=(DNDarray& x, const Operand& b) { return right_shift_(x, b); }
inline DNDarray operator>>=(Selection&& x, const Operand& b) { return right_shift_(std::move(x), b); }

// These functions of one array are local.

/// Replaces x by -x. Throws TypeError for bool.
DNDarray& negative_(DNDarray& x);
DNDarray negative_(Selection&& x);
/// Another name of `negative_`.
inline DNDarray& neg_(DNDarray& x) { return negative_(x); }
inline DNDarray neg_(Selection&& x) { return negative_(std::move(x)); }

/// Inverts all bits of x. Throws TypeError for floating numbers.
DNDarray& bitwise_not_(DNDarray& x);
DNDarray bitwise_not_(Selection&& x);
/// Another name of `bitwise_not_`.
inline DNDarray& invert_(DNDarray& x) { return bitwise_not_(x); }
inline DNDarray invert_(Selection&& x) { return bitwise_not_(std::move(x)); }

/// Replaces NaN and the infinities in x.
DNDarray& nan_to_num_(DNDarray& x, const NanToNumOptions& options = {});
DNDarray nan_to_num_(Selection&& x, const NanToNumOptions& options = {});

}  // namespace heatpp
