#pragma once

#include <heatpp/comm/communicator.hpp>

#include <span>
#include <vector>

namespace heatpp::detail {

// Sums over ranks that are exact until they are rounded once. Partial sums travel in twice the bytes: sums of floats of
// up to 32 bits as float64, and sums of float64 as the unevaluated sum of two float64, stored as a complex number. If
// the sum of two partial sums does not fit exactly, it becomes a mark, a special NaN that absorbs all it meets. What is
// not marked at the end is exact. Marked elements are the same on all ranks and are summed again from all contributions
// at once.

/// Reductions beside those of ReduceOp: of partial sums in the wide dtype, and of contributions of all ranks.
inline constexpr auto marked_sum = static_cast<ReduceOp>(64);
inline constexpr auto whole_sum = static_cast<ReduceOp>(65);

/// Returns the dtype of partial sums of float16 to float64.
[[nodiscard]] constexpr Dtype wide_type(Dtype dtype) {
  return dtype == Dtype::float64 ? Dtype::complex128 : Dtype::float64;
}
void widen_exactly(const ConstBuffer& data, void* wide);
/// Rounds the sums to the data's dtype, -0 to +0, and appends the places of marked sums; there the data stay as they
/// are.
void round_unmarked(const void* wide, const Buffer& data, std::vector<std::int64_t>& marked);

/// Combines as combine() does, for these reductions.
void combine_exactly(ReduceOp op, Dtype dtype, std::span<const void* const> sources, void* out, std::int64_t n);

}  // namespace heatpp::detail
