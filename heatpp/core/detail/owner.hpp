#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace heatpp::detail {

/// Returns the rank that holds `position`; rank r holds those from offsets[r] to before offsets[r + 1]. A few ranks are
/// counted, because positions often come in no order, and a search would mispredict every second comparison.
[[nodiscard]] inline int owner_of(std::int64_t position, std::span<const std::int64_t> offsets) {
  if (offsets.size() > 32) return static_cast<int>(std::ranges::upper_bound(offsets, position) - offsets.begin()) - 1;
  int owner = 0;
  for (const auto last : offsets.subspan(1, offsets.size() - 2)) owner += position >= last;
  return owner;
}

}  // namespace heatpp::detail
