#pragma once

#include <heatpp/ops/operands/detail/align.hpp>

namespace heatpp::detail {

/// Returns this rank's block, whose elements may not be computed yet (core/detail/fused/pending.hpp).
[[nodiscard]] const at::Tensor& pending_block(const DNDarray& x);
/// Does what align does, but leaves blocks pending that do not move.
[[nodiscard]] Aligned align_pending(const char* op, std::span<const Operand> operands);
/// Does what align_to does, but leaves a block pending that does not move.
[[nodiscard]] at::Tensor align_pending_to(const char* op, const DNDarray& x, const Operand& operand);

}  // namespace heatpp::detail
