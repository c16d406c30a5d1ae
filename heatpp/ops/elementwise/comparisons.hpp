#pragma once

#include <heatpp/ops/elementwise/out.hpp>

namespace heatpp {

// Functions of two operands. They broadcast as NumPy does and take any mix of layouts; equal or replicated layouts cost
// no communication. elementwise.hpp states the layout of the result, the communication and the errors.
// Their results are bool. Numbers are compared exactly, also beyond the range of the array's dtype.

/// Returns whether a == b, as bool.
[[nodiscard]] DNDarray eq(const Operand& a, const Operand& b);
DNDarray eq(const Operand& a, const Operand& b, const OutOptions& options);
/// Another name of `eq`.
[[nodiscard]] inline DNDarray equal(const Operand& a, const Operand& b) { return eq(a, b); }

/// Returns whether a != b, as bool.
[[nodiscard]] DNDarray not_equal(const Operand& a, const Operand& b);
DNDarray not_equal(const Operand& a, const Operand& b, const OutOptions& options);
/// Another name of `not_equal`.
[[nodiscard]] inline DNDarray ne(const Operand& a, const Operand& b) { return not_equal(a, b); }

/// Returns whether a < b, as bool; complex numbers are compared by their real, then their imaginary parts.
[[nodiscard]] DNDarray less(const Operand& a, const Operand& b);
DNDarray less(const Operand& a, const Operand& b, const OutOptions& options);
/// Another name of `less`.
[[nodiscard]] inline DNDarray lt(const Operand& a, const Operand& b) { return less(a, b); }

/// Returns whether a <= b, as bool.
[[nodiscard]] DNDarray less_equal(const Operand& a, const Operand& b);
DNDarray less_equal(const Operand& a, const Operand& b, const OutOptions& options);
/// Another name of `less_equal`.
[[nodiscard]] inline DNDarray le(const Operand& a, const Operand& b) { return less_equal(a, b); }

/// Returns whether a > b, as bool.
[[nodiscard]] DNDarray greater(const Operand& a, const Operand& b);
DNDarray greater(const Operand& a, const Operand& b, const OutOptions& options);
/// Another name of `greater`.
[[nodiscard]] inline DNDarray gt(const Operand& a, const Operand& b) { return greater(a, b); }

/// Returns whether a >= b, as bool.
[[nodiscard]] DNDarray greater_equal(const Operand& a, const Operand& b);
DNDarray greater_equal(const Operand& a, const Operand& b, const OutOptions& options);
/// Another name of `greater_equal`.
[[nodiscard]] inline DNDarray ge(const Operand& a, const Operand& b) { return greater_equal(a, b); }

/// The limits of isclose: |a - b| <= atol + rtol * |b|.
struct CloseOptions {
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = false;  ///< whether NaN is close to NaN
};
/// Returns whether elements are close, as bool; equal infinities are. Communicates as the binary functions.
[[nodiscard]] DNDarray isclose(const Operand& a, const Operand& b, const CloseOptions& options = {});

// The logical functions take elements of any dtype as true if they are not 0.

/// Returns whether x is 0, as bool.
[[nodiscard]] DNDarray logical_not(const DNDarray& x);
DNDarray logical_not(const DNDarray& x, const OutOptions& options);

/// Returns whether both a and b are not 0, as bool.
[[nodiscard]] DNDarray logical_and(const Operand& a, const Operand& b);
DNDarray logical_and(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns whether a, b or both are not 0, as bool.
[[nodiscard]] DNDarray logical_or(const Operand& a, const Operand& b);
DNDarray logical_or(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns whether exactly one of a and b is not 0, as bool.
[[nodiscard]] DNDarray logical_xor(const Operand& a, const Operand& b);
DNDarray logical_xor(const Operand& a, const Operand& b, const OutOptions& options);

}  // namespace heatpp
