#pragma once

#include <heatpp/ops/statistics/detail/quantiles.hpp>

namespace heatpp::detail {

/// The weights of `options` in the shape and layout of `x`. Throws ValueError for those, and for a method, that NumPy
/// does not take.
[[nodiscard]] DNDarray checked_weights(const char* op, const DNDarray& x, const PercentileOptions& options);
/// The elements at which the sums of the weights of the sorted ones reach the parts q of all, with a first axis for
/// them. Throws ValueError for sums that are not finite or 0.
[[nodiscard]] DNDarray weighted_quantiles(const char* op, const DNDarray& x, DNDarray weights, const Quantiles& wanted,
                                          const PercentileOptions& options);
/// The median of complex numbers in their order.
[[nodiscard]] DNDarray complex_median(const char* op, const DNDarray& x, const PercentileOptions& options,
                                      bool skip_nan);

}  // namespace heatpp::detail
