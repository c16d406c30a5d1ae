#pragma once

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/training/detail/training.hpp>
#include <heatpp_nn/training/trainer.hpp>

namespace heatpp::nn {

struct Trainer::Impl {
  Network network;
  torch::optim::Optimizer& optimizer;
  Loss loss;
  TrainerOptions options;
  std::optional<GroupRates> rates = {};  // as they were before a schedule or a checkpoint sets others
  std::unique_ptr<DASO> daso = {};
  std::optional<GradScaler> scaler = {};
  std::unique_ptr<detail::WeightMean> mean = {};
  int threads = 0;  ///< number of threads for the computation in each call

  [[nodiscard]] Replica& replica() const { return network.replica(); }
  [[nodiscard]] const Communicator& comm() const { return replica().topology().comm(); }
  [[nodiscard]] detail::Training training() const { return {replica(), optimizer, daso.get(), mean.get()}; }
  [[nodiscard]] Evaluation evaluate(const Dataset& dataset) const {
    const Loss checked = [this](const Tensors& outputs, const Tensors& targets, const Tensors& inputs) {
      return loss_of(outputs, targets, inputs);
    };
    return nn::evaluate(network, dataset, checked, options.metrics, {.transforms = options.evaluation_transforms});
  }
  [[nodiscard]] LossValue loss_of(const Tensors& outputs, const Tensors& targets, const Tensors& inputs) const {
    auto found = loss(outputs, targets, inputs);
    if (options.loss_returns_weight && !found.weight.defined())
      heatpp::detail::raise<ValueError>("Trainer",
                                        "got a loss without a weight; expected both, or loss_returns_weight = false");
    return found;
  }
};

}  // namespace heatpp::nn
