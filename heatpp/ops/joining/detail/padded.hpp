#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// The number of indices before and after an axis.
using PadWidth = std::pair<std::int64_t, std::int64_t>;

/// Returns the cut of the padded axis: the first rank holds the front, the last one the back.
[[nodiscard]] Layout padded(const Layout& layout, int axis, const PadWidth& width);

/// Pads `x` with `value`, one width for each axis, in one copy. Errors name `pad`.
[[nodiscard]] DNDarray padded_with(const DNDarray& x, const std::vector<PadWidth>& widths, const Scalar& value);

}  // namespace heatpp::detail
