#pragma once

#include <heatpp_nn/losses/detail/weighed_loss.hpp>
#include <heatpp_nn/training/trainer.hpp>

namespace heatpp::nn::detail {

/// Whether an optimizer computes gradients itself through a closure, as LBFGS does.
[[nodiscard]] bool steps_by_closure(const torch::optim::Optimizer& optimizer);

/// Throws ValueError for options that such an optimizer cannot use: batches with a part of the rows, float16,
/// checkpoints, and a replica whose ranks share its work. Equal on all ranks.
void check_closure(const Replica& replica, const TrainerOptions& options, std::int64_t batches);

/// Makes one step. `differentiate` computes gradients and returns this rank's loss. All ranks use the same mean or sum
/// of these losses, so that their search for a step is identical. Returns the first of these losses. Collective.
WeighedLoss step_by_closure(Replica& replica, torch::optim::Optimizer& optimizer, const std::optional<double>& max_norm,
                            const std::function<WeighedLoss()>& differentiate);

}  // namespace heatpp::nn::detail
