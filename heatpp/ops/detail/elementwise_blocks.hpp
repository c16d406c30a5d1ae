#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/ops/elementwise.hpp>

/// Functions of blocks that LibTorch does not have, or answers in another way than NumPy.
namespace heatpp::detail::local {

/// The block in floating point: whole numbers become float32.
[[nodiscard]] at::Tensor inexact(const at::Tensor& x);
[[nodiscard]] at::Tensor hypot(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor logaddexp(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor logaddexp2(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor nextafter(const at::Tensor& a, const at::Tensor& b);

[[nodiscard]] at::Tensor sign(const at::Tensor& x);
[[nodiscard]] at::Tensor fabs(const at::Tensor& x);
[[nodiscard]] at::Tensor cbrt(const at::Tensor& x);
[[nodiscard]] at::Tensor spacing(const at::Tensor& x);
[[nodiscard]] at::Tensor iscomplex(const at::Tensor& x);
[[nodiscard]] at::Tensor real(const at::Tensor& x);
[[nodiscard]] at::Tensor imag(const at::Tensor& x);
[[nodiscard]] at::Tensor bitwise_count(const at::Tensor& x);
[[nodiscard]] std::pair<at::Tensor, at::Tensor> modf(const at::Tensor& x);

[[nodiscard]] at::Tensor floor_divide(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor remainder(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor fmod(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor heaviside(const at::Tensor& a, const at::Tensor& b);
[[nodiscard]] at::Tensor isclose(const at::Tensor& a, const at::Tensor& b, const CloseOptions& options);

}  // namespace heatpp::detail::local
