#pragma once

#include <ATen/core/Tensor.h>

namespace heatpp::detail {

/// Returns the rows of a block at `places` (int64 or int32 on the CPU), all of which exist. Rows as large as an element
/// of some dtype are requested from memory some time before they are read.
[[nodiscard]] at::Tensor gathered(const at::Tensor& block, const at::Tensor& places);

}  // namespace heatpp::detail
