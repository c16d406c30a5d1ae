#pragma once

#include <heatpp_nn/training/detail/forwarded.hpp>

#include <concepts>
#include <functional>
#include <torch/nn/module.h>

namespace heatpp::nn {

/// What is computed twice. What it uses has to live until backward is done.
struct Recomputed {
  std::function<Tensors(const Tensors&)> function;
  const torch::nn::Module* module = nullptr;  ///< whose buffers (running statistics) change in the first pass only
};

/// Calls the function and keeps no more than its inputs; backward calls it again, and goes through it from there
/// (activation checkpointing, Chen et al. 2016). Outputs and gradients have the same bits as without: the second time
/// it draws the same random numbers, on the CPU and on the inputs' device, and computes in the same 16 bits where the
/// first was within `Autocast`. Gradients of parameters set out to other ranks within it, as in any backward. A
/// parameter that is used in it may not be used outside of it, or in another one, of the same batch: `DataParallel`
/// throws ValueError then. Without gradients it is called once. Local.
[[nodiscard]] Tensors checkpointed(const Recomputed& recomputed, const Tensors& inputs);

/// The same for a module: `x = checkpointed(*block, x)`.
template <std::derived_from<torch::nn::Module> Net, std::same_as<at::Tensor>... More>
[[nodiscard]] at::Tensor checkpointed(Net& net, const at::Tensor& input, const More&... more) {
  const auto outputs = checkpointed(
      Recomputed{[&net](const Tensors& inputs) { return detail::forwarded(net, inputs); }, &net}, {input, more...});
  return detail::only("outputs", outputs);
}

}  // namespace heatpp::nn
