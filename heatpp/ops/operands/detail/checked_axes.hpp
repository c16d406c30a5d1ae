#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp::detail {

/// Throws ValueError for an array with fewer axes than `least`.
void check_ndim(const char* op, const DNDarray& x, int least);

/// The axes in 0 .. ndim-1 that `axes` mean. Throws IndexError, and ValueError for one named twice.
[[nodiscard]] std::vector<int> different_axes(const char* op, const std::vector<int>& axes, int ndim);

/// Throws IndexError for axes that `x` does not have, also of an array without axes, of which NumPy's functions other
/// than ufuncs take none.
void check_axes(const char* op, const DNDarray& x, const Axes& axes);

}  // namespace heatpp::detail
