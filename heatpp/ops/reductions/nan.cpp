#include <heatpp/ops/reductions/nan.hpp>

#include <heatpp/ops/elementwise/detail/run_blocks.hpp>
#include <heatpp/ops/reductions/detail/reduced.hpp>
#include <heatpp/ops/reductions/detail/without_nan.hpp>
#include <heatpp/ops/reductions/reduce.hpp>

#include <cmath>

namespace heatpp {
namespace {

namespace named = detail::named;
namespace runs = detail::runs;

bool holds_one(const at::Tensor& truths) { return truths.any().item<bool>(); }

/// Returns the extremum of the numbers, none beyond `last`; NaN if there are none and no initial one.
DNDarray of_numbers(const char* op, decltype(named::max) extremum, const DNDarray& x, ReduceOptions options,
                    double last) {
  if (!detail::may_be_nan(x)) return extremum(op, x, options);
  if (!options.initial && !options.where) {  // one pass is enough without NaN; every rank that has a result sees this
    auto result = extremum(op, x, options);
    if (!holds_one(runs::isnan(result.larray()))) return result;
  }
  const auto initial = options.initial ? options.initial->to<std::complex<double>>() : NAN;
  const bool starts = initial == initial;
  if (options.initial && !starts) options.initial = last;
  const auto reduced = extremum(op, detail::without_nan(x, last), options);
  if (starts) return reduced;
  if (!options.where && !holds_one(at::eq(reduced.larray(), last))) return reduced;
  const auto none = all(isnan(x), {.axis = options.axis, .keepdims = options.keepdims, .where = options.where});
  return where(none, static_cast<double>(NAN), reduced);
}

}  // namespace

DNDarray nansum(const DNDarray& x, const ReduceOptions& options) {
  return named::sum("nansum", detail::without_nan(x, 0), options);
}
DNDarray nanprod(const DNDarray& x, const ReduceOptions& options) {
  return named::prod("nanprod", detail::without_nan(x, 1), options);
}
DNDarray nanmax(const DNDarray& x, const ReduceOptions& options) {
  return of_numbers("nanmax", named::max, x, options, -INFINITY);
}
DNDarray nanmin(const DNDarray& x, const ReduceOptions& options) {
  return of_numbers("nanmin", named::min, x, options, INFINITY);
}

}  // namespace heatpp
