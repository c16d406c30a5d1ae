#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/ops/elementwise/elementwise.hpp>
#include <span>

/// Functions of blocks that LibTorch does not have, or answers in another way than NumPy.
namespace heatpp::detail::local {

/// Whether the operands meet as whole numbers or bools.
[[nodiscard]] bool is_whole(const at::Tensor& a, const at::Tensor& b);
/// The block in floating point: whole numbers as inexact_type says.
[[nodiscard]] at::Tensor inexact(const at::Tensor& x);
/// f of the block in floating point.
template <at::Tensor (*f)(const at::Tensor&)>
[[nodiscard]] at::Tensor floating(const at::Tensor& x) {
  return f(inexact(x));
}

/// Converts two blocks that LibTorch would compute in another dtype than this one, in which the operands meet.
void convert_to_meet(std::vector<at::Tensor>& blocks, Dtype dtype);

/// Throws ValueError for a number that is out of range of the whole numbers it meets, as NumPy.
void check_numbers(const char* op, std::span<const at::Tensor> blocks);
/// All as int64 where one is.
void widen_to_numbers(std::vector<at::Tensor>& blocks);
/// 16-bit floats beside complex numbers as float32: LibTorch would make complex numbers of 16-bit parts.
void widen_halves(std::vector<at::Tensor>& blocks);
/// Floats beside whole numbers as float64, in which int32 and those that float32 rounds compare as what they are.
void compare_in_double(std::vector<at::Tensor>& blocks);
/// Writes `result` into `x`. Throws where its kind of numbers does not fit that of `x`.
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
/// Of complex numbers, to which both are converted.
[[nodiscard]] at::Tensor complex_power(const at::Tensor& a, const at::Tensor& b, at::ScalarType type);
[[nodiscard]] at::Tensor complex_reciprocal(const at::Tensor& x);
[[nodiscard]] at::Tensor power(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor float_power(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor left_shift(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor right_shift(const at::Tensor& a, const at::Tensor& b);
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
