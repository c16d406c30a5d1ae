#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace heatpp::detail {

/// Transforms lines: what it gets has them along axis 0 and side by side, those from `first` on of all that lie so.
using LinesTransform = std::function<at::Tensor(const at::Tensor& lines, std::int64_t first)>;

/// A block that is not empty, transformed along an axis of which it has all, as many lines at a time as stay in a
/// core's cache: at large strides a transform of all lines together misses it at every element. The transform may
/// change dtype and length.
[[nodiscard]] at::Tensor transformed_by_lines(const at::Tensor& block, int axis, const LinesTransform& transform);

}  // namespace heatpp::detail
