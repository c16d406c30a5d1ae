#pragma once

#include <heatpp/core/shape.hpp>
#include <initializer_list>

namespace heatpp {

/// The ranks along each axis of an array that several axes cut: `{2, 2, 1}` are four blocks of a 3-D array, each with
/// half of axes 0 and 1. The product is the number of ranks. An empty one names no grid.
struct Grid {
  std::vector<int> ranks = {};
  bool balanced = false;  ///< the ranks follow from the shape

  Grid() = default;
  Grid(std::initializer_list<int> along) : ranks(along) {}
  explicit Grid(std::vector<int> along) : ranks(std::move(along)) {}

  /// Returns the ranks along each axis of an array of this shape over `ranks` ranks. A balanced grid gives the factors
  /// of their number, the largest first, each to the axis along which blocks are then longest, so blocks become nearly
  /// cubes. Local. Throws ValueError if the grid does not have a number of 1 or more for each axis, or if the product
  /// is not the number of ranks.
  [[nodiscard]] std::vector<int> along_axes(const Shape& shape, int ranks) const;
  /// Returns balanced_grid.
  [[nodiscard]] static Grid nearly_cubic() {
    Grid grid;
    grid.balanced = true;
    return grid;
  }
  [[nodiscard]] bool empty() const { return ranks.empty() && !balanced; }
  friend bool operator==(const Grid&, const Grid&) = default;
};

/// Returns "(2, 2, 1)", "balanced" or "none".
[[nodiscard]] std::string to_string(const Grid& grid);

/// The grid whose blocks are nearly cubes.
inline const Grid balanced_grid = Grid::nearly_cubic();

}  // namespace heatpp
