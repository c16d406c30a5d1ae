#pragma once

#include <ATen/ATen.h>

#include <cmath>

namespace heatpp::nn::detail {

/// Constants of Adam (Kingma and Ba 2015).
struct AdamConstants {
  double beta1, beta2, eps;
};

/// Updates the moments by the gradient, and replaces the gradient by the direction m / (sqrt(v) + eps), with unbiased m
/// and v. `steps` counts this step.
inline void adam_direction(at::Tensor gradient, at::Tensor first, at::Tensor second, std::int64_t steps,
                           const AdamConstants& constants) {
  const auto times = static_cast<double>(steps);
  first.lerp_(gradient, 1 - constants.beta1);
  second.mul_(constants.beta2).addcmul_(gradient, gradient, 1 - constants.beta2);
  at::sqrt_out(gradient, second);
  gradient.div_(std::sqrt(1 - std::pow(constants.beta2, times))).add_(constants.eps);
  at::div_out(gradient, first, gradient).div_(1 - std::pow(constants.beta1, times));
}

}  // namespace heatpp::nn::detail
