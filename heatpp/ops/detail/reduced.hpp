#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/axes.hpp>

namespace heatpp::detail {

/// The axes of one reduction of one array, checked.
struct ReducedAxes {
  std::vector<std::int64_t> axes;  ///< rising, each in 0 .. ndim-1
  bool keepdims = false;
  bool over_split = false;  ///< whether the split axis is among them
  std::int64_t count = 1;   ///< elements that make up one result

  [[nodiscard]] bool contains(int axis) const;
  /// The result's layout.
  [[nodiscard]] Layout result_layout(const Layout& layout) const;
};

/// Throws IndexError or ValueError that names `op`.
[[nodiscard]] ReducedAxes reduced_axes(const char* op, const DNDarray& x, const ReduceOptions& options);

}  // namespace heatpp::detail
