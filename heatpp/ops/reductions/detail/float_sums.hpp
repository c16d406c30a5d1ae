#pragma once

#include <heatpp/ops/operands/detail/around.hpp>

namespace heatpp::detail {

/// Whether `short_sum` takes the block: float32 or float64 on the CPU, contiguous, and so few elements that any
/// preparation takes longer than the sum.
[[nodiscard]] bool is_short(const at::Tensor& block);
/// Returns the sum of all elements, added in float64, as a number of the block's dtype.
[[nodiscard]] at::Tensor short_sum(const at::Tensor& block);

/// Adds the sums over the middle axis of a block, for each of the others, to `out`. At most some dozen float32 are
/// added in their dtype; their sums are added in float64, so that errors grow slowly.
template <class T>
void add_float_sums(const T* data, const Around& extents, double* out);

}  // namespace heatpp::detail
