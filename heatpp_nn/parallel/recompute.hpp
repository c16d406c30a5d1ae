#pragma once

#include <heatpp_nn/training/detail/forwarded.hpp>

#include <concepts>
#include <functional>
#include <torch/nn/module.h>

namespace heatpp::nn {

/// A function that is computed twice. What it uses must exist until backward is done.
struct Recomputed {
  std::function<Tensors(const Tensors&)> function;
  const torch::nn::Module* module = nullptr;  ///< its buffers (running statistics) change in the first pass only
};

/// Calls the function and stores only its inputs; backward calls it again to compute gradients (activation
/// checkpointing, Chen et al. 2016). Outputs and gradients have the same bits as without: the second call draws the
/// same random numbers, on the CPU and on the inputs' device, and uses the same 16-bit type if the first was within
/// `Autocast`. Gradients of parameters are sent to other ranks during the second call, as in any backward. So within a
/// batch, a parameter of the function may not be used outside of it or in another one: `DataParallel` throws ValueError
/// then. Without gradients it is called once. Local.
[[nodiscard]] Tensors checkpointed(const Recomputed& recomputed, const Tensors& inputs);

/// Calls a module in this way: `x = checkpointed(*block, x)`.
template <std::derived_from<torch::nn::Module> Net, std::same_as<at::Tensor>... More>
[[nodiscard]] at::Tensor checkpointed(Net& net, const at::Tensor& input, const More&... more) {
  const auto outputs = checkpointed(
      Recomputed{[&net](const Tensors& inputs) { return detail::forwarded(net, inputs); }, &net}, {input, more...});
  return detail::only("outputs", outputs);
}

}  // namespace heatpp::nn
