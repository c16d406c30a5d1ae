#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// Sums a * b, or conj(a) * b, over all elements of two arrays of one shape, of floating or complex numbers. Products
/// are exact, and their sum is rounded once. If operands are split, communicates as the exact sum.
[[nodiscard]] DNDarray exact_dot(const char* op, const DNDarray& a, const DNDarray& b, bool conjugated);

}  // namespace heatpp::detail
