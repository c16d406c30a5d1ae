#pragma once

#include <heatpp/core/blocks/blocks.hpp>
#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// The bricks of a plan, to be filled where they lie.
struct BlockAccess {
  /// Every rank's.
  [[nodiscard]] static const std::vector<std::vector<Brick>>& bricks(const BlockPlan& plan);
  /// The memory of this rank's without their ghost cells. Throws as to_blocks. Local.
  [[nodiscard]] static std::vector<at::Tensor> insides(const BlockPlan& plan, std::span<void* const> memory);
  [[nodiscard]] static std::vector<at::Tensor> insides(const BlockPlan& plan, std::span<const at::Tensor> blocks);
};

}  // namespace heatpp::detail
