#pragma once

#include <heatpp/core/detail/cuts/node_cells.hpp>

namespace heatpp::detail {

/// Returns the layout of a new array: cut evenly along `split`, or as layout_on_grid. Throws ValueError naming `op` if
/// both are given, IndexError for a bad split, and ValueError for a grid that does not fit the shape and the ranks.
/// Local.
[[nodiscard]] Layout layout_of(const char* op, const Shape& shape, std::optional<int> split, const Grid& grid,
                               const Communicator& comm);
/// Returns the layout that options with a split and a grid ask for.
template <class Options>
[[nodiscard]] Layout layout_of(const char* op, const Shape& shape, const Options& options, const Communicator& comm) {
  return layout_of(op, shape, options.split, options.grid, comm);
}

/// Throws ValueError naming `op` for a grid: what it makes consists of rows. Local.
void check_rows_only(const char* op, const Grid& grid);

}  // namespace heatpp::detail
