#pragma once

#include <cstdint>
#include <ranges>

namespace heatpp::detail {

/// Hashes small numbers in their order, equally in every process (Fowler, Noll, Vo's FNV-1a).
template <std::ranges::range Numbers>
[[nodiscard]] std::uint64_t hash_of(const Numbers& numbers, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const auto number : numbers) hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x100000001b3;
  return hash;
}

}  // namespace heatpp::detail
