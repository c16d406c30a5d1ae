#pragma once

#include <heatpp/ops/elementwise/out.hpp>

namespace heatpp {

// Functions of one array. They are local and keep its layout. They throw TypeError for a dtype without the operation.

/// Returns the largest whole number <= x.
[[nodiscard]] DNDarray floor(const DNDarray& x);
DNDarray floor(const DNDarray& x, const OutOptions& options);

/// Returns the smallest whole number >= x.
[[nodiscard]] DNDarray ceil(const DNDarray& x);
DNDarray ceil(const DNDarray& x, const OutOptions& options);

/// Returns x without its fraction.
[[nodiscard]] DNDarray trunc(const DNDarray& x);
DNDarray trunc(const DNDarray& x, const OutOptions& options);
/// Another name of `trunc`.
[[nodiscard]] inline DNDarray fix(const DNDarray& x) { return trunc(x); }

/// Returns the nearest whole number in floating point, halves to even.
[[nodiscard]] DNDarray rint(const DNDarray& x);
DNDarray rint(const DNDarray& x, const OutOptions& options);

/// Returns the nearest whole number, halves to even.
[[nodiscard]] DNDarray round(const DNDarray& x);
DNDarray round(const DNDarray& x, const OutOptions& options);

/// Rounds `x` to `decimals` decimals, halves to even; negative ones round to tens, hundreds and so on. Local.
[[nodiscard]] DNDarray round(const DNDarray& x, int decimals);
/// Rounds `x` to `decimals` decimals as `round`. Local.
[[nodiscard]] inline DNDarray around(const DNDarray& x, int decimals = 0) { return round(x, decimals); }

/// Returns fractions and whole parts, both with the sign of x. Local.
[[nodiscard]] std::pair<DNDarray, DNDarray> modf(const DNDarray& x);

}  // namespace heatpp
