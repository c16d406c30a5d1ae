#pragma once

#include <heatpp/ml/metrics/classification.hpp>

// Quality of predicted numbers, by the rules of scikit-learn: vectors, or (n, outputs), with the mean over outputs, of
// any layouts. Predicted ones are brought to the cut of the true ones, or the inverse if only the predicted ones are
// split. Computed in float64. Results are equal on every rank. All are collective, one pass and one all-reduce of 24 (3
// outputs + 1) bytes, of 24 more with weights. They throw ValueError for shapes that differ, no rows and numbers that
// are not finite.
namespace heatpp {

[[nodiscard]] double mean_squared_error(const DNDarray& y_true, const DNDarray& y_pred,
                                        const MetricOptions& options = {});
/// Returns the root of the mean squared error of each output, averaged.
[[nodiscard]] double root_mean_squared_error(const DNDarray& y_true, const DNDarray& y_pred,
                                             const MetricOptions& options = {});
[[nodiscard]] double mean_absolute_error(const DNDarray& y_true, const DNDarray& y_pred,
                                         const MetricOptions& options = {});
/// Returns 1 - sum((y - p)^2) / sum((y - mean(y))^2), the explained part of the variance; for equal numbers 1 if all
/// predictions are exact, else 0. NaN for fewer than two rows.
[[nodiscard]] double r2_score(const DNDarray& y_true, const DNDarray& y_pred, const MetricOptions& options = {});
/// Returns r2_score with the variance of the errors, which a constant error does not change.
[[nodiscard]] double explained_variance_score(const DNDarray& y_true, const DNDarray& y_pred,
                                              const MetricOptions& options = {});
/// Returns the largest absolute difference. One all-reduce of 16 bytes.
[[nodiscard]] double max_error(const DNDarray& y_true, const DNDarray& y_pred);

}  // namespace heatpp
