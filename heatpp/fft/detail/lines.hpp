#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace heatpp::detail {

/// Transforms the rows of a matrix (axis 1) or its columns (axis 0); the first is line `first` of its kind.
using LinesTransform = std::function<at::Tensor(const at::Tensor& matrix, int axis, std::int64_t first)>;

/// Transforms a block that is not empty along an axis that it has as a whole, as many lines at a time as fit in a
/// core's cache. A transform of all lines together waits for memory, and at large strides misses the cache at every
/// element. The transform may change dtype and length, and does not change its argument.
[[nodiscard]] at::Tensor transformed_by_lines(const at::Tensor& block, int axis, const LinesTransform& transform);

}  // namespace heatpp::detail
