#pragma once

#include <ATen/core/Tensor.h>

namespace heatpp::nn::detail {

/// Whether every element is finite, in one pass over memory. True for an empty tensor and for integers.
[[nodiscard]] bool is_finite(const at::Tensor& tensor);

}  // namespace heatpp::nn::detail
