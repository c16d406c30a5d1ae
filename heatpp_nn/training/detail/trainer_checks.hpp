#pragma once

#include <heatpp_nn/training/detail/agreement.hpp>
#include <heatpp_nn/training/trainer.hpp>

namespace heatpp::nn::detail {

/// Throws ValueError on all ranks for options out of range, and where those that all have to have differ. Collective.
void check(const Communicator& comm, const TrainerOptions& options);
/// A loss by its name, which all ranks give alike. Collective. Throws as named_loss, on all ranks.
[[nodiscard]] Loss agreed_loss(const Communicator& comm, const std::string& name,
                               const std::optional<LossOptions>& options);
/// Throws the same for what `fit` gets: datasets on the ranks of `comm`, and a validation set where options need one.
void check_fit(const Communicator& comm, const TrainerOptions& options, const Dataset& training,
               const std::optional<Dataset>& validation);
/// Throws for an optimizer that differs between ranks in class, groups or options, and for one of tensors that are
/// not the replica's, whose gradients nobody averages.
void check_optimizer(const Replica& replica, const torch::optim::Optimizer& optimizer);
/// The same for the rates at the first batch, the last one, and the one in the middle. None: nothing to check.
void check_rate(const Communicator& comm, const RateSchedule& rate, std::int64_t batches);

}  // namespace heatpp::nn::detail
