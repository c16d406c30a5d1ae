#pragma once

#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/operands/detail/align.hpp>

namespace heatpp::detail {

/// Returns an array, or a number as one without axes that keeps its value: bool, int64, float64 or complex128.
[[nodiscard]] inline DNDarray as_array(const Operand& operand, ArrayOptions options) {
  if (operand.array()) return *operand.array();
  const auto kind = operand.number().default_dtype();
  options.dtype = is_whole(kind) ? kind : promote_types(kind, float64);
  return full({}, operand.number(), options);
}

/// Returns arrays and numbers in their common dtype, beside `like`. Throws ValueError for a number out of range.
[[nodiscard]] inline std::vector<DNDarray> as_arrays(const char* op, std::span<const KeptOperand> kept,
                                                     const DNDarray& like) {
  const std::vector<Operand> operands(kept.begin(), kept.end());
  const auto dtype = common_type(operands);
  std::vector<DNDarray> arrays;
  for (const auto& operand : operands) {
    if (!operand.array()) check_in_range(op, operand.number(), dtype);
    arrays.push_back(as_array(operand, {.device = like.device(), .comm = like.comm()}).astype(dtype));
  }
  return arrays;
}

}  // namespace heatpp::detail
