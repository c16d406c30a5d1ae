#pragma once

#include <array>
#include <cstdint>

namespace heatpp::random::detail {

using Words = std::array<std::uint32_t, 4>;

/// The 64-bit key of a generator and the 128-bit counter of one block of four random words.
struct Key {
  std::uint32_t low, high;
  explicit constexpr Key(std::uint64_t bits)
      : low(static_cast<std::uint32_t>(bits)), high(static_cast<std::uint32_t>(bits >> 32)) {}
};

/// The use of a block's words. It is part of the counter, so that two uses never share a block.
enum class Purpose : std::uint32_t { element, spawn, permutation, group };

[[nodiscard]] constexpr Words counter_of(std::uint64_t index, std::uint32_t draw = 0,
                                         Purpose purpose = Purpose::element) {
  return {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), draw,
          static_cast<std::uint32_t>(purpose)};
}

/// Computes Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11. Inlined
/// into loops over counters, which the compiler vectorizes.
[[gnu::always_inline]] constexpr Words philox(Words c, Key key) {
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const auto a = std::uint64_t{0xD2511F53} * c[0], b = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key.low, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key.high, static_cast<std::uint32_t>(a)};
    key.low += 0x9E3779B9;
    key.high += 0xBB67AE85;
  }
  return c;
}

/// Joins two words.
[[nodiscard]] constexpr std::uint64_t joined(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}

/// Returns the key of a generator's child with this index.
[[nodiscard]] constexpr std::uint64_t derived(std::uint64_t key, std::uint64_t index, Purpose purpose) {
  const auto words = philox(counter_of(index, 0, purpose), Key(key));
  return joined(words[0], words[1]);
}

}  // namespace heatpp::random::detail
