#pragma once

#include <heatpp/comm/communicator.hpp>
#include <span>

namespace heatpp::detail {

/// Throws TypeError if `op` has no meaning for `dtype`: an order of complex numbers, a mean of integers.
void check_op(const char* call, ReduceOp op, Dtype dtype);

/// Computes out[i] = sources[0][i] op sources[1][i] op ..., from the left, for n elements; a mean is left as a sum.
/// 16-bit floats are summed as float32 and rounded once. NaN wins a minimum or maximum. `out` may be a source.
void combine(ReduceOp op, Dtype dtype, std::span<const void* const> sources, void* out, std::int64_t n);

/// Divides each data[i] by `divisor`, for floating-point and complex dtypes.
void divide(Dtype dtype, void* data, std::int64_t n, int divisor);

[[nodiscard]] constexpr bool is_float16(Dtype dtype) { return dtype == Dtype::float16 || dtype == Dtype::bfloat16; }
void widen(Dtype from, const void* in, float* out, std::int64_t n);
/// Rounds to nearest, ties to even.
void narrow(Dtype to, const float* in, void* out, std::int64_t n);

}  // namespace heatpp::detail
