#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp {

// Reductions. If the split axis is among the reduced ones: one allreduce of the result, which every rank holds;
// otherwise local, and the split stays. Errors, on all ranks: IndexError for an axis out of range, ValueError for one
// named twice, for an extremum of an empty array, and for one with `where` and no `initial`, TypeError for a `where`
// that is not bool.

/// Returns the sum; whole numbers and bool are summed as int64.
[[nodiscard]] DNDarray sum(const DNDarray& x, const ReduceOptions& options = {});
HEATPP_OVER_AXES(DNDarray, sum, ReduceOptions)

/// Returns the product; whole numbers and bool are multiplied as int64.
[[nodiscard]] DNDarray prod(const DNDarray& x, const ReduceOptions& options = {});
HEATPP_OVER_AXES(DNDarray, prod, ReduceOptions)

/// Returns the largest element; NaN if an element is NaN.
[[nodiscard]] DNDarray max(const DNDarray& x, const ReduceOptions& options = {});
HEATPP_OVER_AXES(DNDarray, max, ReduceOptions)

/// Returns the smallest element; NaN if an element is NaN.
[[nodiscard]] DNDarray min(const DNDarray& x, const ReduceOptions& options = {});
HEATPP_OVER_AXES(DNDarray, min, ReduceOptions)

/// Another name of `max`.
[[nodiscard]] inline DNDarray amax(const DNDarray& x, const ReduceOptions& options = {}) { return max(x, options); }
HEATPP_OVER_AXES(DNDarray, amax, ReduceOptions)

/// Another name of `min`.
[[nodiscard]] inline DNDarray amin(const DNDarray& x, const ReduceOptions& options = {}) { return min(x, options); }
HEATPP_OVER_AXES(DNDarray, amin, ReduceOptions)

/// Returns whether at least one element is not 0, as bool.
[[nodiscard]] DNDarray any(const DNDarray& x, const ReduceOptions& options = {});
HEATPP_OVER_AXES(DNDarray, any, ReduceOptions)

/// Returns whether all elements are not 0, as bool.
[[nodiscard]] DNDarray all(const DNDarray& x, const ReduceOptions& options = {});
HEATPP_OVER_AXES(DNDarray, all, ReduceOptions)

// Tests of whole arrays. Collective: one allreduce of a truth value, besides moving operands of other layouts.

/// Returns whether all elements are close as in `isclose`. Throws ValueError for shapes that do not broadcast.
[[nodiscard]] bool allclose(const Operand& a, const Operand& b, const CloseOptions& options = {});
/// Options of array_equal.
struct EqualOptions {
  bool equal_nan = false;  ///< whether NaN equals NaN
};
/// Returns whether shapes and all elements are equal.
[[nodiscard]] bool array_equal(const DNDarray& a, const DNDarray& b, const EqualOptions& options = {});
/// Returns whether the shapes broadcast and all elements are equal.
[[nodiscard]] bool array_equiv(const DNDarray& a, const DNDarray& b);

/// Returns how many elements along the axes are not 0, as int64. Communicates as sum.
[[nodiscard]] DNDarray count_nonzero(const DNDarray& x, const ReduceOptions& options = {});
HEATPP_OVER_AXES(DNDarray, count_nonzero, ReduceOptions)
/// Returns the real part if all imaginary parts are at most `tol` times the machine epsilon (or, for tol <= 1, `tol`
/// itself), else `x`. One allreduce of a truth value. Collective.
[[nodiscard]] DNDarray real_if_close(const DNDarray& x, double tol = 100);

}  // namespace heatpp
