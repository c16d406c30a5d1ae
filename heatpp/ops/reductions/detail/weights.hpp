#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp::detail {

/// Returns weights in a shape that broadcasts to x's: unchanged if they have it, else those of the given axes' indices,
/// in their order, with extents of 1 elsewhere. Throws ValueError for others.
[[nodiscard]] DNDarray weights_along(const char* op, const DNDarray& x, const DNDarray& weights, const Axes& axes);

}  // namespace heatpp::detail
