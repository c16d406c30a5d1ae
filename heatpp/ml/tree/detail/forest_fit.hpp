#pragma once

#include <heatpp/ml/detail/classes.hpp>
#include <heatpp/ml/tree/detail/forest.hpp>
#include <heatpp/ml/tree/random_forest.hpp>

namespace heatpp::ml::detail {

/// Throws ValueError for options out of range.
[[nodiscard]] ForestLimits limits_of(const char* op, const RandomForestOptions& options, MaxFeatures default_features,
                                     std::int64_t features);

/// Throws ValueError for more classes than the bits of a drawn row can number.
void check_classes(const char* op, std::int64_t classes);

struct FittedClasses {
  std::shared_ptr<const FittedForest> forest;
  at::Tensor values;  ///< the classes
};
/// Fit a forest to labels of the rows, or to numbers. If a forest with as many features (and the `known` classes) is
/// given, its trees come first. Collective, as the estimators say.
[[nodiscard]] FittedClasses fit_classes(const char* op, const Rows& x, const DNDarray& y, const FitOptions& options,
                                        const RandomForestOptions& forest, const FittedForest* before = nullptr,
                                        const std::optional<DNDarray>& known = std::nullopt);
[[nodiscard]] std::shared_ptr<const FittedForest> fit_numbers(const char* op, const Rows& x, const DNDarray& y,
                                                              const FitOptions& options,
                                                              const RandomForestOptions& forest,
                                                              const FittedForest* before = nullptr);

}  // namespace heatpp::ml::detail
