#pragma once

#include <heatpp/ml/detail/classes.hpp>
#include <heatpp/ml/detail/column_moments.hpp>

namespace heatpp::ml::detail {

/// Returns the moments of every column in every class, classes x features, in one pass and one all-reduce of 24
/// (classes features + 1) bytes, none if rows are replicated. Errors as column_moments. Collective.
[[nodiscard]] std::vector<Moments> class_moments(const char* op, const Rows& rows, const LabelledClasses& classes,
                                                 const double* weights = nullptr);

}  // namespace heatpp::ml::detail
