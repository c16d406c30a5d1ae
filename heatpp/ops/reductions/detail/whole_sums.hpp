#pragma once

#include <ATen/core/Tensor.h>

namespace heatpp::detail {

/// Returns the sums of truth values or whole numbers over `axes`, as int64 on the CPU. Reads the block once; LibTorch
/// would copy it in int64.
[[nodiscard]] at::Tensor whole_sums(const at::Tensor& block, at::IntArrayRef axes, bool keepdims);

}  // namespace heatpp::detail
