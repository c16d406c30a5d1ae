#pragma once

#include <heatpp/core/blocks/blocks.hpp>
#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Access to the bricks of a plan, which are filled in place.
struct BlockAccess {
  /// Returns this rank's bricks.
  [[nodiscard]] static const std::vector<Brick>& bricks(const BlockPlan& plan);
  /// Returns the memory of this rank's bricks without ghost cells. Throws as to_blocks. Local.
  [[nodiscard]] static std::vector<at::Tensor> insides(const BlockPlan& plan, std::span<void* const> memory);
  [[nodiscard]] static std::vector<at::Tensor> insides(const BlockPlan& plan, std::span<const at::Tensor> blocks);
};

}  // namespace heatpp::detail
