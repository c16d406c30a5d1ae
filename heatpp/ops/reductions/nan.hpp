#pragma once

#include <heatpp/ops/reductions/moments.hpp>

namespace heatpp {

/// Declares the functions of nan.inc: reductions over the elements that are not NaN. Splits, communication and errors
/// as those of `sum`; nanmean, nanvar and nanstd as those of `mean`. nanmax and nanmin reduce once if there is no NaN,
/// otherwise twice, and a third time if a slice may have only NaN. They ignore an `initial` that is NaN.
#define HEATPP_NAN_REDUCTION(name, reduction, doc)                                   \
  [[nodiscard]] DNDarray name(const DNDarray& x, const ReduceOptions& options = {}); \
  HEATPP_OVER_AXES(DNDarray, name, ReduceOptions)
#include <heatpp/ops/reductions/nan.inc>
#undef HEATPP_NAN_REDUCTION

/// Returns the mean of the elements that are not NaN; NaN if there are none. This and the next two throw TypeError if a
/// whole dtype is asked for floating or complex elements.
[[nodiscard]] DNDarray nanmean(const DNDarray& x, const ReduceOptions& options = {});
HEATPP_OVER_AXES(DNDarray, nanmean, ReduceOptions)
/// Return variance and standard deviation of the elements that are not NaN; NaN if there are no more than ddof. They
/// throw TypeError for a whole dtype.
[[nodiscard]] DNDarray nanvar(const DNDarray& x, const VarOptions& options = {});
[[nodiscard]] DNDarray nanstd(const DNDarray& x, const VarOptions& options = {});
HEATPP_OVER_AXES(DNDarray, nanvar, VarOptions)
HEATPP_OVER_AXES(DNDarray, nanstd, VarOptions)

}  // namespace heatpp
