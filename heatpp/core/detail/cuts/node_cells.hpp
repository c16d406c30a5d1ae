#pragma once

#include <heatpp/core/layout.hpp>

namespace heatpp::detail {

/// Returns how many ranks each node of the machine has, if all have equally many consecutive ranks, else 1. Local, and
/// the same on all ranks.
[[nodiscard]] int ranks_in_node(const Communicator& comm);

/// Returns the cell of each rank in a grid over an array of this shape, so that the ranks of each node fill a box:
/// the one with the fewest elements at its sides towards other nodes. Empty if rank r has cell r, because nodes are
/// boxes then, or because no box of so many cells divides the grid.
[[nodiscard]] std::vector<int> cells_by_node(const Shape& shape, const std::vector<int>& grid, int in_node);

/// Cuts evenly over a grid of the ranks. In a balanced grid the ranks of each node fill a box, if there is one.
[[nodiscard]] Layout layout_on_grid(const Shape& shape, const Grid& grid, const Communicator& comm);

}  // namespace heatpp::detail
