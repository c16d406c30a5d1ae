#pragma once

#include <heatpp/core/blocks/detail/bricks.hpp>

#include <map>

namespace heatpp::detail {

/// The ghost cells in the memory of a brick before and behind its cells, along each axis.
struct Surroundings {
  Shape before, behind;
};

/// What this rank sends from its bricks to the ghost cells of other ranks, and gets for its own. The cells of a piece
/// that arrives are those of the taker's brick: along periodic axes they may lie outside the domain.
struct GhostPieces {
  std::vector<PeerPieces> leaving, arriving;
};

/// The pieces for each set of periodic axes, one bit for each.
using BrickGhosts = std::map<std::uint64_t, GhostPieces>;

/// A brick of this rank and its ghost cells.
struct GhostedBrick {
  Brick brick;
  Surroundings ghosts;
};

/// Finds who has the elements of all ghost cells. `boxes` are the bricks that meet this rank's block under the layout.
/// A rank asks the owners of the blocks in which its ghost cells lie, and these tell both sides. Collective: twice what
/// `delivered` sends, and an all-reduce. Throws ValueError on all ranks if there are more ghost cells on a side of a
/// brick than a brick there has.
[[nodiscard]] GhostPieces ghost_pieces(const char* op, const std::vector<GhostedBrick>& mine, const Boxes& boxes,
                                       const Layout& layout, std::uint64_t periodic, const Communicator& comm);

}  // namespace heatpp::detail
