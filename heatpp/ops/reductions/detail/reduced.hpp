#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp::detail {

/// The checked axes of a reduction of one array.
struct ReducedAxes {
  std::vector<std::int64_t> axes;  ///< rising, each in 0 .. ndim-1
  bool keepdims = false;
  std::int64_t count = 1;                             ///< elements of one result
  std::optional<Communicator> across = std::nullopt;  ///< the ranks that have parts of this rank's results, if any do
  bool is_copy = false;                               ///< whether another of these ranks has the same part

  [[nodiscard]] bool contains(int axis) const;
  /// Returns the result's layout: with the cuts of the axes that stay.
  [[nodiscard]] Layout result_layout(const Layout& layout) const;
  /// Returns what this rank adds to the results: the block, or nothing of it if it is a copy.
  [[nodiscard]] at::Tensor counted(const at::Tensor& block) const;
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
