#pragma once

#include <heatpp/core/blocks/blocks.hpp>
#include <heatpp/core/blocks/detail/ghost_pieces.hpp>
#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Access to the bricks of a plan, which are filled in place.
struct BlockAccess {
  /// Returns this rank's bricks.
  [[nodiscard]] static const std::vector<Brick>& bricks(const BlockPlan& plan);
  /// Returns the ghost cells of a brick of the plan, also if BlockOptions has them.
  [[nodiscard]] static Surroundings surroundings(const BlockPlan& plan, const Brick& brick);
  /// Returns the memory of this rank's bricks with ghost cells. Throws ValueError that names `op`. Local.
  [[nodiscard]] static std::vector<at::Tensor> wholes(const char* op, const BlockPlan& plan,
                                                      std::span<void* const> memory);
  [[nodiscard]] static std::vector<at::Tensor> wholes(const char* op, const BlockPlan& plan,
                                                      std::span<const at::Tensor> blocks);
  /// Returns the memory of this rank's bricks without ghost cells. Throws as to_blocks. Local.
  [[nodiscard]] static std::vector<at::Tensor> insides(const BlockPlan& plan, std::span<void* const> memory);
  [[nodiscard]] static std::vector<at::Tensor> insides(const BlockPlan& plan, std::span<const at::Tensor> blocks);
  /// Returns the part of a brick's memory with these cells, which may be ghost cells.
  [[nodiscard]] static at::Tensor part(const BlockPlan& plan, const std::vector<at::Tensor>& wholes,
                                       const Piece& piece);
  /// Returns the bricks that meet this rank's block of the array.
  [[nodiscard]] static const Boxes& boxes(const BlockPlan& plan);
  /// Returns the pieces for ghost cells that earlier calls have found.
  [[nodiscard]] static BrickGhosts& ghosts(const BlockPlan& plan);
};

}  // namespace heatpp::detail
