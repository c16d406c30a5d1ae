#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp {

/// Declares the functions of reduce.inc. If the split axis is among the reduced ones: one allreduce of the result,
/// which every rank holds; otherwise local, and the split stays. Throws IndexError for an axis out of range, ValueError
/// for one named twice, for an extremum of an empty array, and for one with `where` and no `initial`, TypeError for a
/// `where` that is not bool; always on all ranks.
#define HEATPP_REDUCTION(name, local, across, of_nothing, doc)                       \
  [[nodiscard]] DNDarray name(const DNDarray& x, const ReduceOptions& options = {}); \
  HEATPP_OVER_AXES(DNDarray, name, ReduceOptions)
#include <heatpp/ops/reductions/reduce.inc>
#undef HEATPP_REDUCTION
/// Do `max` and `min`.
[[nodiscard]] inline DNDarray amax(const DNDarray& x, const ReduceOptions& options = {}) { return max(x, options); }
[[nodiscard]] inline DNDarray amin(const DNDarray& x, const ReduceOptions& options = {}) { return min(x, options); }
HEATPP_OVER_AXES(DNDarray, amax, ReduceOptions)
HEATPP_OVER_AXES(DNDarray, amin, ReduceOptions)

/// Whether all elements are close (`isclose`), or equal. Shapes must broadcast for `allclose` and `array_equiv`, and be
/// equal for `array_equal`. Collective: one allreduce of a truth value, besides moving operands of other layouts.
[[nodiscard]] bool allclose(const Operand& a, const Operand& b, const CloseOptions& options = {});
struct EqualOptions {
  bool equal_nan = false;  ///< whether NaN equals NaN
};
[[nodiscard]] bool array_equal(const DNDarray& a, const DNDarray& b, const EqualOptions& options = {});
[[nodiscard]] bool array_equiv(const DNDarray& a, const DNDarray& b);

/// Returns how many elements along the axes are not 0, as int64. Communicates as sum.
[[nodiscard]] DNDarray count_nonzero(const DNDarray& x, const ReduceOptions& options = {});
HEATPP_OVER_AXES(DNDarray, count_nonzero, ReduceOptions)
/// Returns the real part if all imaginary parts are at most `tol` times the machine epsilon (or, for tol <= 1, `tol`
/// itself), else `x`. One allreduce of a truth value. Collective.
[[nodiscard]] DNDarray real_if_close(const DNDarray& x, double tol = 100);

}  // namespace heatpp
