#pragma once

#include <heatpp/ops/elementwise/elementwise.hpp>

namespace heatpp::detail {

/// Does isclose in one pass for real operands on the CPU without 16-bit floats; else returns nullopt.
[[nodiscard]] std::optional<DNDarray> close_in_one_pass(const Operand& a, const Operand& b,
                                                        const CloseOptions& options);

}  // namespace heatpp::detail
