#pragma once

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/detail/run_blocks.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/detail/align.hpp>

namespace heatpp::detail {

[[nodiscard]] inline bool may_be_nan(const DNDarray& x) { return is_floating(x.dtype()) || is_complex(x.dtype()); }

/// Replaces NaN in `x` by `value`.
[[nodiscard]] inline DNDarray without_nan(const DNDarray& x, double value) {
  return may_be_nan(x) ? wrap(runs::without_nan(x.larray(), value), x.layout(), x.comm()) : x;
}

/// Returns the options of a reduction without NaN. Throws TypeError if NumPy does.
template <class Options>
[[nodiscard]] Options beside_nan(const char* op, const DNDarray& x, Options options) {
  if (!may_be_nan(x)) return options;
  if (options.dtype && is_whole(*options.dtype))
    raise<TypeError>(op, "got dtype {} for an array of {}; expected a floating or complex one", name(*options.dtype),
                     name(x.dtype()));
  if (options.where) check_bool(op, *options.where);
  const auto numbers = logical_not(isnan(x));
  options.where = options.where ? logical_and(numbers, *options.where) : numbers;
  return options;
}

}  // namespace heatpp::detail
