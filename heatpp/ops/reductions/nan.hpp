#pragma once

#include <heatpp/ops/reductions/moments.hpp>

namespace heatpp {

/// The functions of nan.inc: reductions over the elements that are not NaN. Splits, communication and errors as those
/// of `sum` and, of nanmean, nanvar and nanstd, of `mean`; nanmax and nanmin reduce once where there is no NaN,
/// otherwise again, and a third time where a result may be one of nothing; they leave out an `initial` that is NaN.
#define HEATPP_NAN_REDUCTION(name, reduction, doc)                                   \
  [[nodiscard]] DNDarray name(const DNDarray& x, const ReduceOptions& options = {}); \
  HEATPP_OVER_AXES(DNDarray, name, ReduceOptions)
#include <heatpp/ops/reductions/nan.inc>
#undef HEATPP_NAN_REDUCTION

/// The mean of the elements that are not NaN; NaN of nothing. This and the next two throw TypeError for a dtype of
/// whole numbers that floating or complex elements are to have.
[[nodiscard]] DNDarray nanmean(const DNDarray& x, const ReduceOptions& options = {});
HEATPP_OVER_AXES(DNDarray, nanmean, ReduceOptions)
/// The variance and standard deviation of the elements that are not NaN; NaN where there are no more than ddof. Throw
/// TypeError for a dtype of whole numbers.
[[nodiscard]] DNDarray nanvar(const DNDarray& x, const VarOptions& options = {});
[[nodiscard]] DNDarray nanstd(const DNDarray& x, const VarOptions& options = {});
HEATPP_OVER_AXES(DNDarray, nanvar, VarOptions)
HEATPP_OVER_AXES(DNDarray, nanstd, VarOptions)

}  // namespace heatpp
