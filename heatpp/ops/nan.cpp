#include <heatpp/ops/detail/without_nan.hpp>
#include <heatpp/ops/nan.hpp>
#include <heatpp/ops/reduce.hpp>

#include <cmath>

namespace heatpp {
namespace {

/// The options with NaN left out.
template <class Options>
Options beside_nan(const DNDarray& x, Options options) {
  if (!detail::may_be_nan(x)) return options;
  const auto numbers = logical_not(isnan(x));
  options.where = options.where ? logical_and(numbers, *options.where) : numbers;
  return options;
}

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

// Of fewer elements than ddof NumPy's var is infinite, and its nanvar not a number.
DNDarray nanvar(const DNDarray& x, const VarOptions& options) {
  if (!detail::may_be_nan(x)) return var(x, options);
  const auto result = var(x, beside_nan(x, options));
  return where(isinf(result), static_cast<double>(NAN), result);
}
DNDarray nanstd(const DNDarray& x, const VarOptions& options) { return sqrt(nanvar(x, options)); }

}  // namespace heatpp
