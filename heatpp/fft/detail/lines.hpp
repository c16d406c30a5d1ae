#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace heatpp::detail {

/// Transforms the rows of a matrix (axis 1) or its columns (axis 0), the first of which is line `first` of its kind.
using LinesTransform = std::function<at::Tensor(const at::Tensor& matrix, int axis, std::int64_t first)>;

/// A block that is not empty, transformed along an axis of which it has all, as many lines at a time as stay in a
/// core's cache: a transform of all lines together waits for memory, and at large strides misses at every element.
/// The transform may change dtype and length, and leaves its argument as it is.
[[nodiscard]] at::Tensor transformed_by_lines(const at::Tensor& block, int axis, const LinesTransform& transform);

}  // namespace heatpp::detail
