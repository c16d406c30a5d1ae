#pragma once

#include <heatpp/ops/elementwise/arithmetic.hpp>
#include <heatpp/ops/elementwise/bits.hpp>
#include <heatpp/ops/elementwise/comparisons.hpp>

namespace heatpp::detail {

/// The results of operators. A result takes the memory of an operand that was a temporary if that has the result's
/// dtype and layout. So a chain of operators needs few blocks, which may stay in the cache.
[[nodiscard]] DNDarray sum_of(Operand a, Operand b);
[[nodiscard]] DNDarray difference_of(Operand a, Operand b);
[[nodiscard]] DNDarray product_of(Operand a, Operand b);
[[nodiscard]] DNDarray quotient_of(Operand a, Operand b);

}  // namespace heatpp::detail

namespace heatpp {

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

}  // namespace heatpp
