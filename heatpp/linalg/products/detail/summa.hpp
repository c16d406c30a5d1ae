#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/linalg/products/detail/grid_plan.hpp>
#include <heatpp/linalg/products/detail/multiplier.hpp>

namespace heatpp::detail {

/// A block of an operand on this rank, under its layout of the plan, and the labels of its axes.
struct GridOperand {
  at::Tensor block;
  LabelledLayout from;
};

/// Returns this rank's block of the product under `plan.result`. Panels of a block are broadcast among the ranks that
/// need it, while those before are multiplied (SUMMA: van de Geijn and Watts, 1997); sums along the depth are added up
/// at the end (2.5-D: Solomonik and Demmel, 2011). Extra memory: two panels of both operands, and with a depth the sums
/// before they are added up. `labels` are those of the result. Collective.
[[nodiscard]] at::Tensor multiply_on_grid(const GridOperand& a, const GridOperand& b, const std::vector<int>& labels,
                                          const Multiplier& multiplier, const GridPlan& plan, const Communicator& comm);

}  // namespace heatpp::detail
