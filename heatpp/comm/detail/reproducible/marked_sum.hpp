#pragma once

#include <heatpp/comm/communicator.hpp>

#include <span>
#include <vector>

namespace heatpp::detail {

// Sums over ranks that are exact until they are rounded once. Partial sums travel in twice the bytes: of floats of up
// to 32 bits as float64, of float64 as the unevaluated sum of two, in the place of a complex number. Whatever two
// partial sums make that does not fit exactly becomes a mark, which is a NaN of its own that absorbs all it meets; what
// is not marked at the end is exact. Marked elements, alike on all ranks, are summed anew from all contributions at
// once.

/// Reductions beside those of ReduceOp: of partial sums, in the wide dtype, and of the contributions of all ranks.
inline constexpr auto marked_sum = static_cast<ReduceOp>(64);
inline constexpr auto whole_sum = static_cast<ReduceOp>(65);

/// Of float16 .. float64.
[[nodiscard]] constexpr Dtype wide_type(Dtype dtype) {
  return dtype == Dtype::float64 ? Dtype::complex128 : Dtype::float64;
}
void widen_exactly(const ConstBuffer& data, void* wide);
/// Rounds the sums to the data's dtype, -0 as +0, and appends the places of those that are marked, of which the data
/// keep what they have.
void round_unmarked(const void* wide, const Buffer& data, std::vector<std::int64_t>& marked);

/// combine() for these reductions.
void combine_exactly(ReduceOp op, Dtype dtype, std::span<const void* const> sources, void* out, std::int64_t n);

}  // namespace heatpp::detail
