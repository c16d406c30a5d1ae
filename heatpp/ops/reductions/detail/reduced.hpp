#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp::detail {

/// The checked axes of a reduction of one array.
struct ReducedAxes {
  std::vector<std::int64_t> axes;  ///< rising, each in 0 .. ndim-1
  bool keepdims = false;
  bool over_split = false;  ///< whether the split axis is among them
  std::int64_t count = 1;   ///< elements of one result

  [[nodiscard]] bool contains(int axis) const;
  /// Returns the result's layout.
  [[nodiscard]] Layout result_layout(const Layout& layout) const;
};

/// Throws IndexError or ValueError that names `op`.
[[nodiscard]] ReducedAxes reduced_axes(const char* op, const DNDarray& x, const ReduceOptions& options);

/// Returns the block of the mask `where` that meets this rank's block of `x`, stretched to it. Throws TypeError for a
/// mask of another dtype, ValueError for one that does not broadcast to `x`.
[[nodiscard]] at::Tensor mask_block(const char* op, const DNDarray& x, const DNDarray& where);

/// The reductions with errors that name `op`.
namespace named {
[[nodiscard]] DNDarray sum(const char* op, const DNDarray& x, const ReduceOptions& options);
[[nodiscard]] DNDarray prod(const char* op, const DNDarray& x, const ReduceOptions& options);
[[nodiscard]] DNDarray max(const char* op, const DNDarray& x, const ReduceOptions& options);
[[nodiscard]] DNDarray min(const char* op, const DNDarray& x, const ReduceOptions& options);
[[nodiscard]] DNDarray any(const char* op, const DNDarray& x, const ReduceOptions& options);
[[nodiscard]] DNDarray all(const char* op, const DNDarray& x, const ReduceOptions& options);
}  // namespace named

}  // namespace heatpp::detail
