#pragma once

#include <heatpp/core/blocks/blocks.hpp>

namespace heatpp::detail {

/// The common cells of a brick and a rank's block of an array, in cells of the domain.
struct Piece {
  std::size_t brick;  ///< index among the bricks of its rank
  Shape first, count;
};

/// Returns every rank's bricks, equal on all. Collective: an allgather of their numbers and one of their places.
[[nodiscard]] std::vector<std::vector<Brick>> bricks_of_all(const std::vector<Brick>& mine, int ndim,
                                                            const Communicator& comm);
/// Throws ValueError unless each cell lies in one brick.
void check_cover(const char* op, const std::vector<std::vector<Brick>>& bricks, const Shape& shape);
/// Returns the pieces of these bricks in the block that `rank` holds under the layout.
[[nodiscard]] std::vector<Piece> pieces_in(const std::vector<Brick>& bricks, const Layout& layout, int rank);

}  // namespace heatpp::detail
