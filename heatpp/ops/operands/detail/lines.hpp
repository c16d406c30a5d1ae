#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Returns the block on the CPU as a contiguous matrix whose rows are the lines of the block along the axes.
[[nodiscard]] at::Tensor lines_along(const at::Tensor& block, at::IntArrayRef axes);

/// Makes the array of a matrix of lines along one axis, which has another extent if `layout` says so.
[[nodiscard]] DNDarray from_lines(const at::Tensor& lines, int axis, const Layout& layout, const DNDarray& like);

}  // namespace heatpp::detail
