#pragma once

#include <heatpp/ops/operands/detail/around.hpp>

namespace heatpp::detail {

/// Returns the sums of truth values or whole numbers over `axes`, as int64 on the CPU. Reads the block once; LibTorch
/// would copy it in int64.
[[nodiscard]] at::Tensor whole_sums(const at::Tensor& block, at::IntArrayRef axes, bool keepdims);

/// Adds the sums over the middle axis of a block of uint8 or int64, for each of the others, to `out`.
template <class T>
void add_whole_sums(const T* data, const Around& extents, std::int64_t* out);

}  // namespace heatpp::detail
