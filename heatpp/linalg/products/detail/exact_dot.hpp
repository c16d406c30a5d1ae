#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// The sum of a * b over all elements of two arrays of one shape, of floating or complex numbers, or of conj(a) * b.
/// Products are exact, their sum is rounded once. Where operands are split, communicates as the exact sum of all.
[[nodiscard]] DNDarray exact_dot(const char* op, const DNDarray& a, const DNDarray& b, bool conjugated);

}  // namespace heatpp::detail
