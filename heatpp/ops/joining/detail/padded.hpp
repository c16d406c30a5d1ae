#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// How many indices are added before and after an axis.
using PadWidth = std::pair<std::int64_t, std::int64_t>;

/// The cut of the padded axis: the first rank holds what comes before, the last one what comes after.
[[nodiscard]] Layout padded(const Layout& layout, int axis, const PadWidth& width);

/// `x` with `value` around it, one width for each axis: all axes in one copy. Errors name `pad`.
[[nodiscard]] DNDarray padded_with(const DNDarray& x, const std::vector<PadWidth>& widths, const Scalar& value);

}  // namespace heatpp::detail
