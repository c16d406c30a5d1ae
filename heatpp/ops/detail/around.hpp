#pragma once

#include <ATen/core/Tensor.h>

namespace heatpp::detail {

/// A contiguous block around one of its axes, or neighbouring ones: (outer, n, inner) elements in C order.
struct Around {
  std::int64_t outer = 1, n = 1, inner = 1;

  [[nodiscard]] std::int64_t others() const { return outer * inner; }
};
[[nodiscard]] Around around(const at::Tensor& block, std::int64_t axis);

/// A block of real numbers on the CPU in a dtype of AT_DISPATCH_ALL_TYPES: bool as uint8, 16-bit floats as float.
[[nodiscard]] at::Tensor readable(const at::Tensor& block);

}  // namespace heatpp::detail
