#pragma once

#include <torch/optim/optimizer.h>

#include <memory>
#include <string>
#include <vector>

namespace heatpp::nn {

/// What DASO and checkpoints have to know of a class of optimizers: what it keeps for a parameter, each tensor of the
/// parameter's shape and dtype. LibTorch's SGD, Adam, AdamW, RMSprop and Adagrad are known, and heatpp's Lars and Lamb.
struct OptimizerKind {
  using State = torch::optim::OptimizerParamState;
  std::string name;
  bool (*is)(const torch::optim::Optimizer&);
  std::unique_ptr<State> (*make)();
  /// Where its tensors are, undefined ones included: always as many, in the same order.
  std::vector<at::Tensor*> (*tensors)(State&);
  std::int64_t* (*steps)(State&);  ///< how often the parameter was stepped; nullptr where that is not counted
};

/// Makes an optimizer of one's own known, on all ranks alike and before it is used.
void add_optimizer_kind(const OptimizerKind& kind);

/// The kind of `Optimizer`, which keeps a `Kept` for each parameter:
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
