#pragma once

#include <heatpp/core/factories.hpp>

// Domains that are cut along any axes: Cartesian communicators, or lists of boxes for each rank.
namespace heatpp {

namespace detail {
struct BlockAccess;
}

/// The cells [offset, offset + shape) of a domain, without ghost cells.
struct Brick {
  Shape offset, shape;
  /// Ghost cells in the memory of this brick before and behind its cells, along each axis, if these differ: e.g. a host
  /// without ghost cells at the edges of the domain (PETSc's DM_BOUNDARY_NONE). Empty: as BlockOptions says.
  Shape before = {}, behind = {};
};

/// The split of an array of bricks: an axis, or nullopt if every rank gets all of it. If none is given, it is axis 0.
class BlockSplit {
 public:
  BlockSplit() = default;
  BlockSplit(std::optional<int> axis) : axis_(axis), given_(true) {}  // NOLINT: conversion intended
  BlockSplit(int axis) : BlockSplit(std::optional(axis)) {}           // NOLINT: conversion intended
  BlockSplit(std::nullopt_t) : BlockSplit(std::optional<int>()) {}    // NOLINT: conversion intended
  /// Returns the split that is meant beside a grid: none unless one is given.
  [[nodiscard]] std::optional<int> beside(const Grid& grid) const {
    return given_ || grid.empty() ? axis_ : std::nullopt;
  }

 private:
  std::optional<int> axis_ = 0;
  bool given_ = false;
};

/// How the bricks of a host become an array.
struct BlockOptions {
  BlockSplit split = {};  ///< split of the array; not given: axis 0 unless there is a grid
  Grid grid = {};         ///< grid of the array; as in ArrayOptions, an error beside a split
  /// Ghost cells in memory on either side of each brick, along each axis or along all. They are left out and never
  /// written to.
  Shape ghosts = {};
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// A plan that moves elements between the bricks of a host and an array with a split or on a grid. It is made once: two
/// allreduces, and the places of bricks travel to the ranks whose blocks of the array they meet, in 2 log2 P messages
/// of a rank (or to all ranks, if the array has no split). Then each from_blocks and to_blocks is one exchange of only
/// those elements that have to change their rank. A rank holds its bricks and those that meet its block, for any P.
class BlockPlan {
 public:
  /// Makes a plan for this rank's bricks, any number of them, of a domain of this shape. Collective. Throws ValueError
  /// on all ranks for shapes that differ by rank and for bricks that lie outside, overlap, or leave cells out.
  BlockPlan(const Shape& shape, std::vector<Brick> bricks, Dtype dtype, const BlockOptions& options = {});

  /// Makes the array of the elements in `memory`, in C order with ghost cells for each brick. Collective.
  [[nodiscard]] DNDarray from_blocks(std::span<const void* const> memory) const;
  [[nodiscard]] DNDarray from_blocks(const void* memory) const { return from_blocks(std::span(&memory, 1)); }
  /// Makes the array of memory at strides: a tensor with the ghost cells for each brick.
  [[nodiscard]] DNDarray from_blocks(std::span<const at::Tensor> blocks) const;
  /// Writes the elements of `x`, of the plan's shape and any layout, to the bricks. Collective: 2 log2 P messages more
  /// if x is cut differently from the plan. Throws ValueError for another shape and TypeError for another dtype.
  void to_blocks(const DNDarray& x, std::span<void* const> memory) const;
  void to_blocks(const DNDarray& x, void* memory) const { to_blocks(x, std::span(&memory, 1)); }
  void to_blocks(const DNDarray& x, std::span<const at::Tensor> blocks) const;

  /// Returns how many bricks this rank has.
  [[nodiscard]] std::size_t bricks() const;
  /// Returns the layout of the array.
  [[nodiscard]] const Layout& layout() const;
  [[nodiscard]] Dtype dtype() const;
  [[nodiscard]] const Communicator& comm() const;
  /// Returns the bytes that this rank sends to others in each from_blocks and receives in each to_blocks.
  [[nodiscard]] std::int64_t bytes_sent() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
  friend struct detail::BlockAccess;
};

/// Makes the host's bricks, one of each rank, an array where they lie: no element moves. The array is on the grid that
/// the bricks form, in the order of the host's ranks; ghost cells are no part of it. It is written in place, as that of
/// from_local; the memory must outlive it and its copies. The plan's split has no meaning here. Collective: an
/// allgather of 2 numbers for each axis. Throws ValueError on all ranks if a rank has several bricks or none, or if the
/// bricks form no grid with a cell for each rank: from_blocks takes any bricks.
[[nodiscard]] DNDarray adopt_blocks(void* memory, const BlockPlan& plan);
/// Adopts memory at strides: a tensor with the ghost cells.
[[nodiscard]] DNDarray adopt_blocks(const at::Tensor& block, const BlockPlan& plan);

/// Which ghost cells beyond the ends of the domain are filled.
struct GhostOptions {
  /// Whether the other end of the domain follows behind an end: along each axis, or one value for all. Empty: along no
  /// axis.
  std::vector<bool> periodic = {};
};

/// Fills the ghost cells of the host's bricks, also at edges and corners, with the elements that other bricks hold
/// there. Ghost cells outside the domain keep their values, except along periodic axes, and so do those of bricks
/// without elements. Collective: an all-reduce of 24 bytes, and one message between two ranks whose bricks and ghost
/// cells meet. The first call of a plan for these periodic axes also tells the ranks what they exchange: as the plan,
/// in 4 log2 P messages of a rank. Throws ValueError on all ranks if a brick has more ghost cells on a side than the
/// extent of a brick beside it, and for settings that differ by rank.
void refresh_ghosts(std::span<void* const> memory, const BlockPlan& plan, const GhostOptions& options = {});
inline void refresh_ghosts(void* memory, const BlockPlan& plan, const GhostOptions& options = {}) {
  refresh_ghosts(std::span(&memory, 1), plan, options);
}
void refresh_ghosts(std::span<const at::Tensor> blocks, const BlockPlan& plan, const GhostOptions& options = {});

/// Makes an array of one block per rank. `block` has ghost cells, and its cells begin at `offset` in a domain of this
/// shape. Collective: a plan and an exchange; if many arrays have the same cut, make a BlockPlan. Throws as
/// BlockPlan.
[[nodiscard]] DNDarray from_blocks(const at::Tensor& block, const Shape& offset, const Shape& shape,
                                   const BlockOptions& options = {});
/// Makes the array of memory in C order; `extents` include the ghost cells.
[[nodiscard]] DNDarray from_blocks(const void* memory, const Shape& extents, Dtype dtype, const Shape& offset,
                                   const Shape& shape, const BlockOptions& options = {});
/// Writes the part of `x` that belongs to this rank's block, without ghost cells. Collective.
void to_blocks(const DNDarray& x, const at::Tensor& block, const Shape& offset, const BlockOptions& options = {});
void to_blocks(const DNDarray& x, void* memory, const Shape& extents, const Shape& offset,
               const BlockOptions& options = {});

}  // namespace heatpp
