#include <heatpp/ops/detail/without_nan.hpp>
#include <heatpp/ops/nan.hpp>
#include <heatpp/ops/reduce.hpp>

#include <cmath>

namespace heatpp {
namespace {

/// How many elements of each reduction are not NaN, in the dtype of their mean.
DNDarray counted(const DNDarray& x, const ReduceOptions& options) {
  return sum(logical_not(isnan(x)), options).astype(real_type(inexact_type(x.dtype())));
}

/// NaN where all elements of a reduction are.
DNDarray unless_empty(const DNDarray& reduced, const DNDarray& x, const ReduceOptions& options) {
  return detail::may_be_nan(x) ? where(all(isnan(x), options), static_cast<double>(NAN), reduced) : reduced;
}

}  // namespace

#define HEATPP_NAN_REDUCTION(name, reduction, doc) \
  DNDarray name(const DNDarray& x, const ReduceOptions& options) { return reduction; }
#include <heatpp/ops/nan.inc>
#undef HEATPP_NAN_REDUCTION

DNDarray nanvar(const DNDarray& x, const VarOptions& options) {
  if (!detail::may_be_nan(x)) return var(x, options);
  const ReduceOptions along{.axis = options.axis, .keepdims = options.keepdims};
  const auto centre = nanmean(x, ReduceOptions{.axis = options.axis, .keepdims = true});
  const auto centred = abs(where(isnan(x), 0, x - centre));
  const auto freedom = counted(x, along) - options.ddof;
  return sum(centred * centred, along) / where(freedom > 0, freedom, static_cast<double>(NAN));
}

DNDarray nanstd(const DNDarray& x, const VarOptions& options) { return sqrt(nanvar(x, options)); }

}  // namespace heatpp
