#pragma once

#include <heatpp/ops/reductions/moments.hpp>

namespace heatpp {

// Reductions over the elements that are not NaN. Splits, communication and errors are those of `sum`, and of `mean` for
// nanmean, nanvar and nanstd. nanmax and nanmin reduce once if there is no NaN, otherwise twice, and a third time if a
// slice may have only NaN. They ignore an `initial` that is NaN.

/// Returns the sum of the elements that are not NaN; 0 if there are none.
[[nodiscard]] DNDarray nansum(const DNDarray& x, const ReduceOptions& options = {});
HEATPP_OVER_AXES(DNDarray, nansum, ReduceOptions)

/// Returns the product of the elements that are not NaN; 1 if there are none.
[[nodiscard]] DNDarray nanprod(const DNDarray& x, const ReduceOptions& options = {});
HEATPP_OVER_AXES(DNDarray, nanprod, ReduceOptions)

/// Returns the largest element that is not NaN; NaN if there is none.
[[nodiscard]] DNDarray nanmax(const DNDarray& x, const ReduceOptions& options = {});
HEATPP_OVER_AXES(DNDarray, nanmax, ReduceOptions)

/// Returns the smallest element that is not NaN; NaN if there is none.
[[nodiscard]] DNDarray nanmin(const DNDarray& x, const ReduceOptions& options = {});
HEATPP_OVER_AXES(DNDarray, nanmin, ReduceOptions)

// These throw TypeError if the dtype in the options is one of whole numbers; nanmean only for floating or complex
// elements.

/// Returns the mean of the elements that are not NaN; NaN if there are none.
[[nodiscard]] DNDarray nanmean(const DNDarray& x, const ReduceOptions& options = {});
HEATPP_OVER_AXES(DNDarray, nanmean, ReduceOptions)

/// Returns the variance of the elements that are not NaN; NaN if there are no more than ddof.
[[nodiscard]] DNDarray nanvar(const DNDarray& x, const VarOptions& options = {});
HEATPP_OVER_AXES(DNDarray, nanvar, VarOptions)

/// Returns the standard deviation of the elements that are not NaN; NaN if there are no more than ddof.
[[nodiscard]] DNDarray nanstd(const DNDarray& x, const VarOptions& options = {});
HEATPP_OVER_AXES(DNDarray, nanstd, VarOptions)

}  // namespace heatpp
