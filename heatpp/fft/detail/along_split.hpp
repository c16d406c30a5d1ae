#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

enum class Direction { forth, back };

/// Transforms a complex array along its split axis, without a factor; no block holds more than its share, here and
/// below. Collective.
[[nodiscard]] DNDarray transformed_along_split(const DNDarray& x, Direction direction);
/// Compute the first n / 2 + 1 numbers of the transform of a real array with an even number n of elements along its
/// split axis, and n times the array of such numbers: by complex transforms of half the length. Collective.
[[nodiscard]] DNDarray real_along_split(const DNDarray& x);
[[nodiscard]] DNDarray real_back_along_split(const DNDarray& x);

}  // namespace heatpp::detail
