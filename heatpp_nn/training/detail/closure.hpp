#pragma once

#include <heatpp_nn/losses/detail/weighed_loss.hpp>
#include <heatpp_nn/training/trainer.hpp>

namespace heatpp::nn::detail {

/// Whether an optimizer calls for gradients by itself, as LBFGS does.
[[nodiscard]] bool steps_by_closure(const torch::optim::Optimizer& optimizer);

/// Throws ValueError for what such an optimizer cannot do: batches of a part of the rows, float16, checkpoints, and a
/// replica whose ranks share its work. Alike on all ranks.
void check_closure(const Replica& replica, const TrainerOptions& options, std::int64_t batches);

/// One step. `differentiate` leaves gradients and returns this rank's loss, of which all ranks take the same mean or
/// sum, so that the search for a step is the same on all. Returns the first of these losses. Collective.
WeighedLoss step_by_closure(Replica& replica, torch::optim::Optimizer& optimizer, const std::optional<double>& max_norm,
                            const std::function<WeighedLoss()>& differentiate);

}  // namespace heatpp::nn::detail
