#pragma once

#include <heatpp/ops/elementwise/out.hpp>

namespace heatpp {

// Functions of two operands. They broadcast as NumPy does and take any mix of layouts; equal or replicated layouts cost
// no communication. elementwise.hpp states the layout of the result, the communication and the errors.
// A whole number beside an array of whole numbers must be in the range of its dtype; otherwise they throw ValueError.

/// Returns the larger of a and b; NaN if either is NaN.
[[nodiscard]] DNDarray maximum(const Operand& a, const Operand& b);
DNDarray maximum(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns the smaller of a and b; NaN if either is NaN.
[[nodiscard]] DNDarray minimum(const Operand& a, const Operand& b);
DNDarray minimum(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns the larger of a and b; the other one if one is NaN.
[[nodiscard]] DNDarray fmax(const Operand& a, const Operand& b);
DNDarray fmax(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns the smaller of a and b; the other one if one is NaN.
[[nodiscard]] DNDarray fmin(const Operand& a, const Operand& b);
DNDarray fmin(const Operand& a, const Operand& b, const OutOptions& options);

/// Returns `a` where `condition` is true, else `b`. Broadcasts and redistributes as the binary functions.
[[nodiscard]] DNDarray where(const DNDarray& condition, const Operand& a, const Operand& b);

/// Limits `x` to low .. high. Either may be an array, or nullopt for no limit.
[[nodiscard]] DNDarray clip(const DNDarray& x, const std::optional<Operand>& low, const std::optional<Operand>& high);

}  // namespace heatpp
