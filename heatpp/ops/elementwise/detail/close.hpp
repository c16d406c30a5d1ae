#pragma once

#include <heatpp/ops/elementwise/elementwise.hpp>

namespace heatpp::detail {

/// isclose in one pass, for real operands on the CPU of which none has 16-bit floats; else nullopt.
[[nodiscard]] std::optional<DNDarray> close_in_one_pass(const Operand& a, const Operand& b,
                                                        const CloseOptions& options);

}  // namespace heatpp::detail
