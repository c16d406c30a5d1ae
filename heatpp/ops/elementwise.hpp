#pragma once

#include <heatpp/ops/operand.hpp>

namespace heatpp {

/// The functions of elementwise.inc. Unary ones are local and keep the layout. Binary ones broadcast their operands as
/// NumPy does and take any mix of layouts: the operands that are cheapest to move are redistributed (counted in
/// comm_report(), refused under Redistribution::forbid), equal or replicated layouts cost no communication. The result
/// is split as the operand that stayed. Throws ValueError for shapes that do not broadcast, CommError for different
/// communicators, TypeError for a dtype without the operation; always on all ranks.
#define HEATPP_UNARY(name, torch_name, doc) [[nodiscard]] DNDarray name(const DNDarray& x);
#define HEATPP_BINARY(name, torch_name, doc) [[nodiscard]] DNDarray name(const Operand& a, const Operand& b);
#include <heatpp/ops/elementwise.inc>
#undef HEATPP_UNARY
#undef HEATPP_BINARY

/// Elements of `a` where `condition` is true, of `b` elsewhere; broadcasts and redistributes as the binary functions.
[[nodiscard]] DNDarray where(const DNDarray& condition, const Operand& a, const Operand& b);
/// `x` limited to low .. high; either may be an array.
[[nodiscard]] DNDarray clip(const DNDarray& x, const Operand& low, const Operand& high);

// clang-format off
[[nodiscard]] inline DNDarray operator-(const DNDarray& x) { return negative(x); }
[[nodiscard]] inline DNDarray operator~(const DNDarray& x) { return bitwise_not(x); }
[[nodiscard]] inline DNDarray operator+(const Operand& a, const Operand& b) { return add(a, b); }
[[nodiscard]] inline DNDarray operator-(const Operand& a, const Operand& b) { return subtract(a, b); }
[[nodiscard]] inline DNDarray operator*(const Operand& a, const Operand& b) { return multiply(a, b); }
[[nodiscard]] inline DNDarray operator/(const Operand& a, const Operand& b) { return divide(a, b); }
[[nodiscard]] inline DNDarray operator%(const Operand& a, const Operand& b) { return remainder(a, b); }
[[nodiscard]] inline DNDarray operator&(const Operand& a, const Operand& b) { return bitwise_and(a, b); }
[[nodiscard]] inline DNDarray operator|(const Operand& a, const Operand& b) { return bitwise_or(a, b); }
[[nodiscard]] inline DNDarray operator^(const Operand& a, const Operand& b) { return bitwise_xor(a, b); }
[[nodiscard]] inline DNDarray operator==(const Operand& a, const Operand& b) { return eq(a, b); }
[[nodiscard]] inline DNDarray operator!=(const Operand& a, const Operand& b) { return not_equal(a, b); }
[[nodiscard]] inline DNDarray operator<(const Operand& a, const Operand& b) { return less(a, b); }
[[nodiscard]] inline DNDarray operator<=(const Operand& a, const Operand& b) { return less_equal(a, b); }
[[nodiscard]] inline DNDarray operator>(const Operand& a, const Operand& b) { return greater(a, b); }
[[nodiscard]] inline DNDarray operator>=(const Operand& a, const Operand& b) { return greater_equal(a, b); }
// clang-format on

/// In place: `x` keeps its dtype, shape and layout, `b` is broadcast and moved to it. Handles that share the elements
/// see the change. Throws ValueError where `b` does not broadcast to x's shape, TypeError where the result does not fit
/// x's dtype.
const DNDarray& operator+=(const DNDarray& x, const Operand& b);
const DNDarray& operator-=(const DNDarray& x, const Operand& b);
const DNDarray& operator*=(const DNDarray& x, const Operand& b);
const DNDarray& operator/=(const DNDarray& x, const Operand& b);

}  // namespace heatpp
