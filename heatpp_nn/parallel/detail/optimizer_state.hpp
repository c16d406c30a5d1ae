#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/comm/communicator.hpp>
#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace heatpp::nn::detail {

/// What an optimizer keeps for its parameters, as a table that is equally large on all ranks: a row for each parameter,
/// a column for each tensor that its kind of optimizer may keep (momenta, second moments).
struct OptimizerSlots {
  std::vector<at::Tensor> tensors;  ///< row by row; undefined where nothing is kept
  std::vector<std::int64_t> steps;  ///< of each parameter, as Adam counts them; 0 where none are counted
};

/// Throws TypeError for an optimizer whose state cannot be averaged: known are SGD, Adam, AdamW, RMSprop and Adagrad.
[[nodiscard]] OptimizerSlots slots_of(torch::optim::Optimizer& optimizer);
/// Makes the optimizer keep what the table says, on the devices of its parameters.
void set_slots(torch::optim::Optimizer& optimizer, const OptimizerSlots& slots);

/// What one rank keeps, all keep: zeros where a parameter has not been used on a rank, and the most steps of all ranks.
/// Collective: one all-reduce of a number for each place of the table.
void complete(OptimizerSlots& slots, const torch::optim::Optimizer& optimizer, const Communicator& comm);
/// Adds `share` times each tensor of `more` that is defined, in float64, to what may be none yet.
void add_to(std::vector<at::Tensor>& sums, const std::vector<at::Tensor>& more, double share);
/// The same for the tables' tensors; of steps it takes the most.
void add_to(OptimizerSlots& sum, const OptimizerSlots& more, double share);

/// The tensors that are kept.
[[nodiscard]] std::vector<at::Tensor> kept(const OptimizerSlots& slots);

}  // namespace heatpp::nn::detail
