#pragma once

#include <heatpp/ops/statistics/detail/quantiles.hpp>

namespace heatpp::detail {

/// Returns the weights of `options` in the shape and layout of `x`. Throws ValueError for weights and methods that
/// NumPy refuses.
[[nodiscard]] DNDarray checked_weights(const char* op, const DNDarray& x, const PercentileOptions& options);
/// Returns the elements at which the sums of the sorted weights reach the parts q of the total, with a first axis for
/// q. Throws ValueError for sums that are not finite or 0.
[[nodiscard]] DNDarray weighted_quantiles(const char* op, const DNDarray& x, DNDarray weights, const Quantiles& wanted,
                                          const PercentileOptions& options);
/// Returns the median of complex numbers in their order.
[[nodiscard]] DNDarray complex_median(const char* op, const DNDarray& x, const PercentileOptions& options,
                                      bool skip_nan);

}  // namespace heatpp::detail
