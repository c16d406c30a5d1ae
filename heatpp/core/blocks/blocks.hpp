#pragma once

#include <heatpp/core/factories.hpp>

// Domains that are cut along any axes: Cartesian communicators, lists of boxes for each rank.
namespace heatpp {

namespace detail {
struct BlockAccess;
}

/// The cells [offset, offset + shape) of a domain, without ghost cells.
struct Brick {
  Shape offset, shape;
  /// Ghost cells that the memory of this brick has before and behind its cells, along each axis, where these differ: a
  /// host that has none at the edges of the domain, PETSc's DM_BOUNDARY_NONE. Empty: as BlockOptions says.
  Shape before = {}, behind = {};
};

/// How the bricks of a host become an array.
struct BlockOptions {
  std::optional<int> split = 0;  ///< of the array; nullopt: every rank gets all of it
  /// Cells that memory has around each brick on either side, along each axis or along all: they are left out, and not
  /// written to.
  Shape ghosts = {};
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// The way between the bricks that each rank of a host holds and an array with a split. Made once, by an allreduce and
/// two allgathers of where the bricks lie; then each from_blocks and to_blocks is one exchange, of what lies on another
/// rank than it has to, and of nothing else.
class BlockPlan {
 public:
  /// For this rank's bricks, any number of them, of a domain of this shape. Collective. Throws ValueError on all ranks
  /// for shapes that differ by rank, bricks that lie outside, overlap, or leave cells out.
  BlockPlan(const Shape& shape, std::vector<Brick> bricks, Dtype dtype, const BlockOptions& options = {});

  /// The array of what lies in `memory`, that of each brick in C order with its ghost cells. Collective.
  [[nodiscard]] DNDarray from_blocks(std::span<const void* const> memory) const;
  [[nodiscard]] DNDarray from_blocks(const void* memory) const { return from_blocks(std::span(&memory, 1)); }
  /// The same for memory at strides: a tensor with the ghost cells for each brick.
  [[nodiscard]] DNDarray from_blocks(std::span<const at::Tensor> blocks) const;
  /// Writes the elements of `x`, of the plan's shape and any split, to where they belong. Collective: one exchange more
  /// where x is cut otherwise than the plan says. Throws ValueError for another shape and TypeError for another dtype.
  void to_blocks(const DNDarray& x, std::span<void* const> memory) const;
  void to_blocks(const DNDarray& x, void* memory) const { to_blocks(x, std::span(&memory, 1)); }
  void to_blocks(const DNDarray& x, std::span<const at::Tensor> blocks) const;

  /// How many this rank has.
  [[nodiscard]] std::size_t bricks() const;
  /// Of the array.
  [[nodiscard]] const Layout& layout() const;
  [[nodiscard]] Dtype dtype() const;
  [[nodiscard]] const Communicator& comm() const;
  /// Bytes that this rank sends to others in each from_blocks, and receives in each to_blocks.
  [[nodiscard]] std::int64_t bytes_sent() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
  friend struct detail::BlockAccess;
};

/// The array of which this rank holds a block, with its ghost cells, whose cells begin at `offset` in a domain of this
/// shape. Collective: a plan and an exchange; many arrays of the same cut go by a BlockPlan of one's own. Throws as
/// that does.
[[nodiscard]] DNDarray from_blocks(const at::Tensor& block, const Shape& offset, const Shape& shape,
                                   const BlockOptions& options = {});
/// The same for memory in C order, `extents` of it with the ghost cells.
[[nodiscard]] DNDarray from_blocks(const void* memory, const Shape& extents, Dtype dtype, const Shape& offset,
                                   const Shape& shape, const BlockOptions& options = {});
/// Writes the part of `x` that belongs there to this rank's block, and not to its ghost cells. Collective.
void to_blocks(const DNDarray& x, const at::Tensor& block, const Shape& offset, const BlockOptions& options = {});
void to_blocks(const DNDarray& x, void* memory, const Shape& extents, const Shape& offset,
               const BlockOptions& options = {});

}  // namespace heatpp
