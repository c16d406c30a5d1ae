#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/comm/communicator.hpp>
#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace heatpp::nn::detail {

/// The state that an optimizer keeps for its parameters, as a table of the same size on all ranks: a row for each
/// parameter, a column for each tensor that its kind of optimizer may keep (momenta, second moments).
struct OptimizerSlots {
  std::vector<at::Tensor> tensors;  ///< row by row; undefined if nothing is kept
  std::vector<std::int64_t> steps;  ///< for each parameter, as Adam counts them; 0 if they are not counted
};

/// Returns the table. Throws TypeError for an optimizer of an unknown class (`OptimizerKind`).
[[nodiscard]] OptimizerSlots slots_of(torch::optim::Optimizer& optimizer);
/// Returns the name of the class.
[[nodiscard]] std::string name_of(const torch::optim::Optimizer& optimizer);
/// Returns the number of columns.
[[nodiscard]] std::size_t slot_columns(const torch::optim::Optimizer& optimizer);
/// Returns the tensors that it steps, row by row.
[[nodiscard]] std::vector<at::Tensor> tensors_of(const torch::optim::Optimizer& optimizer);
/// Sets the optimizer's state to the table, on the devices of its parameters.
void set_slots(torch::optim::Optimizer& optimizer, const OptimizerSlots& slots);

/// Makes the tables of all ranks have the same tensors: zeros if a rank has not used the parameter, and the largest
/// number of steps. Collective: one all-reduce of a number for each place of the table.
void complete(OptimizerSlots& slots, const torch::optim::Optimizer& optimizer, const Communicator& comm);
/// Returns the tensors that are kept.
[[nodiscard]] std::vector<at::Tensor> kept(const OptimizerSlots& slots);

}  // namespace heatpp::nn::detail
