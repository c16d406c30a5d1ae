#pragma once

#include <ATen/core/Tensor.h>

/// Vector code for functions of blocks that LibTorch computes in scalar loops, some with a branch for each element. For
/// blocks on the CPU in one order, and for numbers. Other blocks go to LibTorch, whose names and rules these have.
namespace heatpp::detail::runs {

[[nodiscard]] at::Tensor where(const at::Tensor& condition, const at::Tensor& a, const at::Tensor& b);
/// Writes a value of the block's dtype where the mask, of equal shape, is true.
void masked_fill(const at::Tensor& block, const at::Tensor& mask, const at::Tensor& value);
[[nodiscard]] at::Tensor eq(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor ne(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor lt(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor le(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor gt(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor ge(const at::Tensor& a, const at::Tensor& b);
/// Returns how many elements of a contiguous block of bool on the CPU are true.
[[nodiscard]] std::int64_t count_true(const at::Tensor& mask);
[[nodiscard]] at::Tensor isnan(const at::Tensor& x);
[[nodiscard]] at::Tensor isinf(const at::Tensor& x);
[[nodiscard]] at::Tensor isfinite(const at::Tensor& x);
[[nodiscard]] at::Tensor fmax(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor fmin(const at::Tensor& a, const at::Tensor& b);
/// Returns NaN if one is NaN, and `a` of equal numbers unless a block is broadcast.
[[nodiscard]] at::Tensor maximum(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor minimum(const at::Tensor& a, const at::Tensor& b);
/// Returns -1, 0 or 1, and NaN for NaN.
[[nodiscard]] at::Tensor sign(const at::Tensor& x);
/// Returns x with `value` instead of NaN.
[[nodiscard]] at::Tensor without_nan(const at::Tensor& x, double value);
/// Returns the square root, of float and double rounded correctly; LibTorch's may differ in the last bit.
[[nodiscard]] at::Tensor sqrt(const at::Tensor& x);
/// Returns the cube root of float or double.
[[nodiscard]] at::Tensor cbrt(const at::Tensor& x);
/// Returns x * 2^power, rounded once, of two blocks of float or of double.
[[nodiscard]] at::Tensor ldexp(const at::Tensor& x, const at::Tensor& power);
/// Returns |z| of complex numbers.
[[nodiscard]] at::Tensor modulus(const at::Tensor& z);
/// Returns the number of bits set in |x|, as uint8.
[[nodiscard]] at::Tensor bitwise_count(const at::Tensor& x);

}  // namespace heatpp::detail::runs
