#pragma once

#include <heatpp_nn/training/detail/agreement.hpp>
#include <heatpp_nn/training/trainer.hpp>

namespace heatpp::nn::detail {

/// Throws ValueError on all ranks for options out of range, and if common options or the types of losses differ between
/// ranks. Collective.
void check(const Communicator& comm, const Loss& loss, const TrainerOptions& options);
/// Returns a loss by its name, which must be equal on all ranks. Collective. Throws as named_loss, on all ranks.
[[nodiscard]] Loss agreed_loss(const Communicator& comm, const std::string& name,
                               const std::optional<LossOptions>& options);
/// Throws if `fit` gets datasets on other ranks than `comm`, or no validation set although an option needs one.
void check_fit(const Communicator& comm, const TrainerOptions& options, const Dataset& training,
               const std::optional<Dataset>& validation);
/// Throws for an optimizer that differs between ranks in class, groups or options, and for one with tensors that are
/// not the replica's, because their gradients are not averaged.
void check_optimizer(const Replica& replica, const torch::optim::Optimizer& optimizer);
/// Checks the rates at the first, the middle and the last batch. Without a schedule it checks nothing.
void check_rate(const Communicator& comm, const RateSchedule& rate, std::int64_t batches);

}  // namespace heatpp::nn::detail
