#pragma once

namespace heatpp::detail {

/// Up to so many ranks, a number of each costs less than to do without: it takes 8 KiB.
inline constexpr int few_ranks = 1 << 10;

}  // namespace heatpp::detail
