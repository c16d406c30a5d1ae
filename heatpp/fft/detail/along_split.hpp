#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

enum class Direction { forth, back };

/// The transform of a complex array along its split axis, without a factor, in the layout of `x`; no block holds more
/// of it than its share. Collective.
[[nodiscard]] DNDarray transformed_along_split(const DNDarray& x, Direction direction);

}  // namespace heatpp::detail
