#include <heatpp/ops/detail/without_nan.hpp>
#include <heatpp/ops/nan.hpp>
#include <heatpp/ops/reduce.hpp>

#include <cmath>

namespace heatpp {
namespace {

/// NaN where all elements of a reduction are, and nothing else takes part.
DNDarray unless_empty(const DNDarray& reduced, const DNDarray& x, const ReduceOptions& options) {
  if (!detail::may_be_nan(x) || options.initial) return reduced;
  return where(all(isnan(x), {.axis = options.axis, .keepdims = options.keepdims}), static_cast<double>(NAN), reduced);
}

}  // namespace

#define HEATPP_NAN_REDUCTION(name, reduction, doc) \
  DNDarray name(const DNDarray& x, const ReduceOptions& options) { return reduction; }
#include <heatpp/ops/nan.inc>
#undef HEATPP_NAN_REDUCTION

}  // namespace heatpp
