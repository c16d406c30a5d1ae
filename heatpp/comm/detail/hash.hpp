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

/// Returns a hash of two numbers, whose bits look random (Steele et al. 2014, SplitMix64).
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  a += 0x9e3779b97f4a7c15 * (b + 1);
  a = (a ^ a >> 30) * 0xbf58476d1ce4e5b9;
  a = (a ^ a >> 27) * 0x94d049bb133111eb;
  return a ^ a >> 31;
}
/// Returns a hash of three numbers.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return mixed(mixed(a, b), c);
}

}  // namespace heatpp::detail
