#pragma once

#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/operand.hpp>

namespace heatpp::detail {

/// An array, or a number as one without axes that keeps its value: of bool, int64, float64 or complex128.
[[nodiscard]] inline DNDarray as_array(const Operand& operand, ArrayOptions options) {
  if (operand.array()) return *operand.array();
  const auto kind = operand.number().default_dtype();
  options.dtype = is_whole(kind) ? kind : promote_types(kind, float64);
  return full({}, operand.number(), options);
}

}  // namespace heatpp::detail
