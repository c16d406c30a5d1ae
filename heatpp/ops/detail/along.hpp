#pragma once

#include <heatpp/ops/axes_moves.hpp>
#include <heatpp/ops/index.hpp>

namespace heatpp::detail {

/// The indices of one entry along `axis`. A transposition is free, and spares a list of entries whose length is known
/// at run time only.
[[nodiscard]] inline DNDarray along(const DNDarray& x, int axis, const Index& entry) {
  return axis == 0 ? x.index({entry}) : swapaxes(swapaxes(x, 0, axis).index({entry}), 0, axis);
}

[[nodiscard]] inline std::int64_t extent_of(const DNDarray& x, int axis) {
  return x.shape()[static_cast<std::size_t>(axis)];
}

}  // namespace heatpp::detail
