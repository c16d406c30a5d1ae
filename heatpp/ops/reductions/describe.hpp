#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp {

/// Options of describe.
struct DescribeOptions {
  Axes axis = std::nullopt;  ///< nullopt: all axes
  double ddof = 0;           ///< the sum of squares is divided by count - ddof
  bool keepdims = false;     ///< keep reduced axes with extent 1
};
/// What `describe` returns.
struct Description {
  std::int64_t count = 0;  ///< elements of each result
  DNDarray mean, std, min, max;
};

/// Computes mean, standard deviation, least and largest element in one pass over memory and, if the split axis is
/// reduced, one allreduce of 48 bytes for each result. Each is that of the function with its name, in dtype and split,
/// too; NaN elements give NaN. On GPUs it is these functions, one after another. Throws IndexError and ValueError as
/// `min`, also for an array without elements, and TypeError for complex arrays.
[[nodiscard]] Description describe(const DNDarray& x, const DescribeOptions& options = {});
HEATPP_OVER_AXES(Description, describe, DescribeOptions)

}  // namespace heatpp
