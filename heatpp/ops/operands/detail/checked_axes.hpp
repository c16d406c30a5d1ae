#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp::detail {

/// Throws ValueError for an array with fewer axes than `least`.
void check_ndim(const char* op, const DNDarray& x, int least);

/// Returns axes in 0 .. ndim-1. Throws IndexError, and ValueError for one named twice.
[[nodiscard]] std::vector<int> different_axes(const char* op, const std::vector<int>& axes, int ndim);

/// Throws IndexError for axes that `x` does not have, also for an array without axes, for which only NumPy's ufuncs
/// accept an axis.
void check_axes(const char* op, const DNDarray& x, const Axes& axes);

}  // namespace heatpp::detail
