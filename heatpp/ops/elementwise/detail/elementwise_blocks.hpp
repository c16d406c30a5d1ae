#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/ops/elementwise/elementwise.hpp>
#include <span>

/// Functions of blocks that LibTorch does not have, or for which its results differ from NumPy's.
namespace heatpp::detail::local {

/// Whether the operands' common dtype is whole or bool.
[[nodiscard]] bool is_whole(const at::Tensor& a, const at::Tensor& b);
/// Returns the block in floating point: whole numbers as inexact_type says.
[[nodiscard]] at::Tensor inexact(const at::Tensor& x);
/// Returns f of the block in floating point.
template <at::Tensor (*f)(const at::Tensor&)>
[[nodiscard]] at::Tensor floating(const at::Tensor& x) {
  return f(inexact(x));
}

/// Converts two blocks to this dtype, the operands' common one, if LibTorch would compute in another.
void convert_to_meet(std::vector<at::Tensor>& blocks, Dtype dtype);

/// Throws ValueError for a number out of the range of the whole numbers that it meets, as NumPy.
void check_numbers(const char* op, std::span<const at::Tensor> blocks);
/// Converts all blocks to int64 if one is int64.
void widen_to_numbers(std::vector<at::Tensor>& blocks);
/// Converts 16-bit floats next to complex numbers to float32; LibTorch would make complex numbers of 16-bit parts.
void widen_halves(std::vector<at::Tensor>& blocks);
/// Whether floats next to the block are compared in float64: it has whole numbers that they may not hold.
[[nodiscard]] bool needs_double(const at::Tensor& block);
/// Converts floats next to whole numbers to float64, so that int32 and large numbers compare exactly.
void compare_in_double(std::vector<at::Tensor>& blocks);
/// Writes `result` into `x`. Throws if its kind of numbers does not fit that of `x`.
void write(const at::Tensor& x, const at::Tensor& result);

[[nodiscard]] at::Tensor abs(const at::Tensor& x);
[[nodiscard]] at::Tensor negative(const at::Tensor& x);
[[nodiscard]] at::Tensor square(const at::Tensor& x);
[[nodiscard]] at::Tensor reciprocal(const at::Tensor& x);
[[nodiscard]] at::Tensor floor(const at::Tensor& x);
[[nodiscard]] at::Tensor ceil(const at::Tensor& x);
[[nodiscard]] at::Tensor trunc(const at::Tensor& x);
[[nodiscard]] at::Tensor rint(const at::Tensor& x);
[[nodiscard]] at::Tensor round(const at::Tensor& x, int decimals = 0);
[[nodiscard]] at::Tensor angle(const at::Tensor& x);
[[nodiscard]] at::Tensor sign(const at::Tensor& x);
[[nodiscard]] at::Tensor fabs(const at::Tensor& x);
[[nodiscard]] at::Tensor cbrt(const at::Tensor& x);
[[nodiscard]] at::Tensor exp2(const at::Tensor& x);
[[nodiscard]] at::Tensor arctanh(const at::Tensor& x);
[[nodiscard]] at::Tensor sinh(const at::Tensor& x);
[[nodiscard]] at::Tensor cosh(const at::Tensor& x);
[[nodiscard]] at::Tensor spacing(const at::Tensor& x);
[[nodiscard]] at::Tensor arccos(const at::Tensor& x);
[[nodiscard]] at::Tensor log1p(const at::Tensor& x);
[[nodiscard]] at::Tensor iscomplex(const at::Tensor& x);
[[nodiscard]] at::Tensor conj(const at::Tensor& x);
[[nodiscard]] at::Tensor real(const at::Tensor& x);
[[nodiscard]] at::Tensor imag(const at::Tensor& x);
[[nodiscard]] std::pair<at::Tensor, at::Tensor> modf(const at::Tensor& x);

[[nodiscard]] at::Tensor less(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor less_equal(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor greater(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor greater_equal(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor maximum(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor minimum(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor fmax(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor fmin(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor add(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor subtract(const at::Tensor& a, const at::Tensor& b);
void add_(const at::Tensor& x, const at::Tensor& b);
void subtract_(const at::Tensor& x, const at::Tensor& b);
[[nodiscard]] at::Tensor multiply(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor divide(const at::Tensor& a, const at::Tensor& b);
void multiply_(const at::Tensor& x, const at::Tensor& b);
void divide_(const at::Tensor& x, const at::Tensor& b);
/// Returns the power of complex numbers; both operands are converted.
[[nodiscard]] at::Tensor complex_power(const at::Tensor& a, const at::Tensor& b, at::ScalarType type);
[[nodiscard]] at::Tensor complex_reciprocal(const at::Tensor& x);
[[nodiscard]] at::Tensor power(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor float_power(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor left_shift(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor right_shift(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor arctan2(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor hypot(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor logaddexp(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor logaddexp2(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor nextafter(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor floor_divide(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor remainder(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor fmod(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor gcd(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor lcm(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor ldexp(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor heaviside(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor isclose(const at::Tensor& a, const at::Tensor& b, const CloseOptions& options);

}  // namespace heatpp::detail::local
