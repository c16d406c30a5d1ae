#pragma once

#include <ATen/core/Tensor.h>

namespace heatpp::detail {

/// Whether `short_sum` takes the block: float32 or float64 on the CPU, contiguous, and so few elements that LibTorch's
/// preparation takes longer than the sum.
[[nodiscard]] bool is_short(const at::Tensor& block);
/// Returns the sum of all elements, added in float64, as a number of the block's dtype.
[[nodiscard]] at::Tensor short_sum(const at::Tensor& block);

}  // namespace heatpp::detail
