#pragma once

#include <heatpp/ops/statistics/histogram.hpp>

namespace heatpp::detail {

/// Returns how many bins the rule of the options gives `x`, as NumPy. Collective. Throws ValueError for another name,
/// and for weights or edges with a rule.
[[nodiscard]] std::int64_t bins_by_rule(const char* op, const DNDarray& x, const HistogramOptions& options);

}  // namespace heatpp::detail
