#pragma once

#include <heatpp_nn/training/inference.hpp>

#include <exception>

namespace heatpp::nn::detail {

/// Throws ValueError that names the dtypes where a module has refused inputs of another dtype than its weights'.
/// Otherwise does nothing.
void explain_dtypes(const std::exception& error, const torch::nn::Module& module, const Tensors& inputs);

/// The outputs for a batch that is trained. Throws ValueError that names the options where BatchNorm refuses one row.
[[nodiscard]] Tensors trained_outputs(const Network& network, const Batch& batch);

}  // namespace heatpp::nn::detail
