#pragma once

#include <heatpp_nn/training/inference.hpp>

#include <exception>

namespace heatpp::nn::detail {

/// Throws ValueError that names the dtypes if a module failed because inputs have another dtype than its weights.
/// Otherwise does nothing.
void explain_dtypes(const std::exception& error, const torch::nn::Module& module, const Tensors& inputs);

/// Returns the outputs for a training batch. If BatchNorm refuses one row, throws ValueError that names the options.
[[nodiscard]] Tensors trained_outputs(const Network& network, const Batch& batch);

}  // namespace heatpp::nn::detail
