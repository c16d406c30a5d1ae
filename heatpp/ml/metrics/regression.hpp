#pragma once

#include <heatpp/ml/metrics/classification.hpp>

// How well numbers were predicted, by scikit-learn's rules: vectors, or (n, outputs), over which the mean is taken; any
// layouts, the predicted ones being brought to the cut of the true ones, or these to theirs if only the predicted ones
// are split. Computed in float64. Results are the same on every rank. All are collective, one pass and one all-reduce
// of 24 (3 outputs + 1) bytes, of 24 more with weights. They throw ValueError for shapes that differ, no rows and
// numbers that are not finite.
namespace heatpp {

[[nodiscard]] double mean_squared_error(const DNDarray& y_true, const DNDarray& y_pred,
                                        const MetricOptions& options = {});
/// Its root, of each output.
[[nodiscard]] double root_mean_squared_error(const DNDarray& y_true, const DNDarray& y_pred,
                                             const MetricOptions& options = {});
[[nodiscard]] double mean_absolute_error(const DNDarray& y_true, const DNDarray& y_pred,
                                         const MetricOptions& options = {});
/// The part of the variance that is explained, 1 - sum((y - p)^2) / sum((y - mean(y))^2); for numbers all alike 1 if
/// they are met, else 0. NaN for fewer than two rows.
[[nodiscard]] double r2_score(const DNDarray& y_true, const DNDarray& y_pred, const MetricOptions& options = {});
/// The same with the variance of the errors, which a constant error does not change.
[[nodiscard]] double explained_variance_score(const DNDarray& y_true, const DNDarray& y_pred,
                                              const MetricOptions& options = {});
/// The largest difference. One all-reduce of 16 bytes.
[[nodiscard]] double max_error(const DNDarray& y_true, const DNDarray& y_pred);

}  // namespace heatpp
