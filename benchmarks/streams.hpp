#pragma once

#include <cstdint>

namespace bench {

/// Returns element `i` of the random stream `seed`, equal on every machine and number of ranks (splitmix64).
inline std::uint64_t hash(std::uint64_t seed, std::uint64_t i) {
  auto z = (i + (seed << 40) + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// Returns a number uniform in [0, 1).
inline float uniform(std::uint64_t seed, std::uint64_t i) { return static_cast<float>(hash(seed, i) >> 40) * 0x1p-24f; }

/// Returns a nearly normal number with mean 0 and variance 1: the sum of four uniform numbers.
inline float normal(std::uint64_t seed, std::uint64_t i) {
  const auto h = hash(seed, i);
  const auto sum = (h & 0xFFFF) + ((h >> 16) & 0xFFFF) + ((h >> 32) & 0xFFFF) + (h >> 48);
  return static_cast<float>(static_cast<std::int64_t>(sum) - 131070) * static_cast<float>(1.7320508075688772 / 65536);
}

/// Returns a whole number in 0 .. 255; such data compress.
inline float byte(std::uint64_t seed, std::uint64_t i) { return static_cast<float>(hash(seed, i) >> 56); }

/// Returns a whole number in 0 .. 9999.
inline std::int32_t integer(std::uint64_t seed, std::uint64_t i) {
  return static_cast<std::int32_t>(hash(seed, i) % 10'000);
}

/// Returns a position in ten million elements.
inline std::int64_t position(std::uint64_t seed, std::uint64_t i) {
  return static_cast<std::int64_t>(hash(seed, i) % 10'000'000);
}

}  // namespace bench
