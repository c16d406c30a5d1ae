#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace heatpp::nn::detail {

/// Throws TypeError for an optimizer whose state cannot be averaged: known are SGD, Adam, AdamW, RMSprop and Adagrad.
void check_optimizer(const torch::optim::Optimizer& optimizer);

/// The tensors that the optimizer keeps for its parameters (momenta, second moments), in the order of the parameters.
[[nodiscard]] std::vector<at::Tensor> state_tensors(const torch::optim::Optimizer& optimizer);

}  // namespace heatpp::nn::detail
