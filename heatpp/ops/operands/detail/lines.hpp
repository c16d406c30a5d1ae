#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// The block of `x` on the CPU as a contiguous matrix whose rows are the lines of the block along `axis`.
[[nodiscard]] at::Tensor lines_along(const DNDarray& x, int axis);

/// The array of lines_along's kind of matrix, whose lines have another extent if `layout` says so.
[[nodiscard]] DNDarray from_lines(const at::Tensor& lines, int axis, const Layout& layout, const DNDarray& like);

}  // namespace heatpp::detail
