#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/axes.hpp>

namespace heatpp {

/// The functions of reduce.inc. If the split axis is among the reduced ones: one allreduce of the result, which every
/// rank holds; otherwise local, and the split stays. Throws IndexError for an axis out of range, ValueError for one
/// named twice and for an extremum of nothing; always on all ranks.
#define HEATPP_REDUCTION(name, local, across, doc)                                   \
  [[nodiscard]] DNDarray name(const DNDarray& x, const ReduceOptions& options = {}); \
  [[nodiscard]] inline DNDarray name(const DNDarray& x, int axis) { return name(x, ReduceOptions{.axis = axis}); }
#include <heatpp/ops/reduce.inc>
#undef HEATPP_REDUCTION

}  // namespace heatpp
