#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// Returns `x` with each element on one rank: if several ranks of a grid hold each block, each of them keeps an equal
/// share of it, in place. Local. For sums over all ranks and for files.
[[nodiscard]] DNDarray without_copies(const DNDarray& x);

}  // namespace heatpp::detail
