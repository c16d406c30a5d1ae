#pragma once

#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise.hpp>

namespace heatpp::detail {

[[nodiscard]] inline bool may_be_nan(const DNDarray& x) { return is_floating(x.dtype()) || is_complex(x.dtype()); }

/// `x` with `value` in the place of NaN.
[[nodiscard]] inline DNDarray without_nan(const DNDarray& x, double value) {
  return may_be_nan(x) ? where(isnan(x), value, x) : x;
}

/// The options of a reduction with NaN left out.
template <class Options>
[[nodiscard]] Options beside_nan(const DNDarray& x, Options options) {
  if (!may_be_nan(x)) return options;
  const auto numbers = logical_not(isnan(x));
  options.where = options.where ? logical_and(numbers, *options.where) : numbers;
  return options;
}

}  // namespace heatpp::detail
