#pragma once

#include <heatpp/core/detail/fused/pending.hpp>
#include <heatpp/ops/operands/operand.hpp>
#include <string_view>

/// Elementwise functions that are computed later, together with others.
namespace heatpp::detail::local {

/// How a formula has a function.
struct FusedFunction {
  std::string_view name;
  /// Adds the function of values of this type.
  std::optional<fused::Value> (*build)(fused::Formula&, std::span<const fused::Value>, fused::Type);
  bool inexact = false;       ///< of one array: whole numbers are converted as inexact_type says
  bool by_number = false;     ///< of two operands: the second one has to be a number
  bool by_condition = false;  ///< the first operand chooses between the others
};
/// Returns the function with this name, or nullptr if it is computed at once.
[[nodiscard]] const FusedFunction* fused_function(std::string_view name);

/// Returns the block of the function of one block, or nullopt if it has to be computed at once.
[[nodiscard]] std::optional<at::Tensor> fused_unary(const FusedFunction* function, const char* op, const DNDarray& x);

/// Returns the dtype in which two blocks are compared: compare_in_double has converted them.
[[nodiscard]] at::ScalarType comparison_type(std::span<const at::Tensor> blocks);
/// Returns the block of the function of blocks that are converted to `type`, of select all but the first.
[[nodiscard]] std::optional<at::Tensor> fused_block(const FusedFunction* function, const char* op, at::ScalarType type,
                                                    std::span<const at::Tensor> blocks);

/// Computes the function of the block of `x`, which is the first one, and another block in place. If `x` is pending and
/// alone, it gets a block that is computed later; else it is written if the other one is pending. Returns whether it
/// did one of these.
[[nodiscard]] bool fused_in_place(const FusedFunction* function, const char* op, DNDarray& x,
                                  std::span<const at::Tensor> blocks);
/// Whether the block of `x` is pending and belongs to `x` alone.
[[nodiscard]] bool is_pending_alone(const DNDarray& x);

}  // namespace heatpp::detail::local
