#pragma once

#include <algorithm>
#include <cstdint>

namespace heatpp::detail {

/// How many of the first `n` elements come `before`, all of which lie in front of the others. In the first-level cache
/// without branches, which would be mispredicted every other time; beyond it their guesses fetch ahead.
template <class K, class Before>
[[nodiscard]] std::int64_t count_before(const K* first, std::int64_t n, Before before) {
  constexpr std::int64_t cached = 4096;
  if (n > cached) return std::partition_point(first, first + n, before) - first;
  if (n == 0) return 0;
  const auto* base = first;
  while (n > 1) {
    const auto half = n / 2;
    base += half * static_cast<std::int64_t>(before(base[half - 1]));
    n -= half;
  }
  return base - first + before(*base);
}

}  // namespace heatpp::detail
