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

/// Throws TypeError for an optimizer of a class that is not known (`OptimizerKind`).
[[nodiscard]] OptimizerSlots slots_of(torch::optim::Optimizer& optimizer);
/// The class's name.
[[nodiscard]] std::string name_of(const torch::optim::Optimizer& optimizer);
/// How many columns there are.
[[nodiscard]] std::size_t slot_columns(const torch::optim::Optimizer& optimizer);
/// What it steps, row by row.
[[nodiscard]] std::vector<at::Tensor> tensors_of(const torch::optim::Optimizer& optimizer);
/// Makes the optimizer keep what the table says, on the devices of its parameters.
void set_slots(torch::optim::Optimizer& optimizer, const OptimizerSlots& slots);

/// What one rank keeps, all keep: zeros where a parameter has not been used on a rank, and the most steps of all ranks.
/// Collective: one all-reduce of a number for each place of the table.
void complete(OptimizerSlots& slots, const torch::optim::Optimizer& optimizer, const Communicator& comm);
/// The tensors that are kept.
[[nodiscard]] std::vector<at::Tensor> kept(const OptimizerSlots& slots);

}  // namespace heatpp::nn::detail
