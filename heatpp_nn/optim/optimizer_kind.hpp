#pragma once

#include <torch/optim/optimizer.h>

#include <memory>
#include <string>
#include <vector>

namespace heatpp::nn {

/// What DASO and checkpoints must know of a class of optimizers: its tensors for a parameter, each with the parameter's
/// shape and dtype. LibTorch's SGD, Adam, AdamW, RMSprop and Adagrad are known, and heatpp's Lars, Lamb and Muon.
struct OptimizerKind {
  using State = torch::optim::OptimizerParamState;
  std::string name;
  bool (*is)(const torch::optim::Optimizer&);
  std::unique_ptr<State> (*make)();
  /// Returns the places of its tensors, undefined ones included: always the same number, in the same order.
  std::vector<at::Tensor*> (*tensors)(State&);
  std::int64_t* (*steps)(State&);  ///< number of steps of the parameter; nullptr if it is not counted
};

/// Registers your own class of optimizers. All ranks call it in the same way, before they use the optimizer.
void add_optimizer_kind(const OptimizerKind& kind);

/// Returns the kind of `Optimizer`, which keeps a `Kept` for each parameter:
///     struct Kept : torch::optim::OptimizerCloneableParamState<Kept> {
///       TORCH_ARG(at::Tensor, momentum);
///     };
///     ht::nn::add_optimizer_kind(ht::nn::optimizer_kind<MyOptimizer, Kept>(
///         "MyOptimizer", [](OptimizerKind::State& s) { return std::vector{&static_cast<Kept&>(s).momentum()}; }));
template <class Optimizer, class Kept>
[[nodiscard]] OptimizerKind optimizer_kind(std::string name, std::vector<at::Tensor*> (*tensors)(OptimizerKind::State&),
                                           std::int64_t* (*steps)(OptimizerKind::State&) = nullptr) {
  return {
      std::move(name),
      [](const torch::optim::Optimizer& optimizer) { return dynamic_cast<const Optimizer*>(&optimizer) != nullptr; },
      []() -> std::unique_ptr<OptimizerKind::State> { return std::make_unique<Kept>(); }, tensors, steps};
}

}  // namespace heatpp::nn
