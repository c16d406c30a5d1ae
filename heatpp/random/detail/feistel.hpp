#pragma once

#include <cstdint>
#include <heatpp/random/detail/philox.hpp>

namespace heatpp::random::detail {

/// A random permutation of the numbers with `bits` bits, at most 64: an alternating Feistel network.
class Feistel {
 public:
  Feistel() = default;
  Feistel(Key key, std::uint64_t counter, int bits)
      : low_bits_(bits / 2), high_mask_(mask(bits - low_bits_)), low_mask_(mask(low_bits_)) {
    for (std::uint32_t i = 0; i < rounds; ++i) {
      const auto words = philox(counter_of(counter, i, Purpose::permutation), key);
      keys_[i] = {words[0], words[1]};
    }
  }

  /// This is inlined into loops, which the compiler vectorizes.
  template <bool Inverse>
  [[nodiscard, gnu::always_inline]] std::uint64_t apply(std::uint64_t x) const {
    auto high = static_cast<std::uint32_t>(x >> low_bits_), low = static_cast<std::uint32_t>(x) & low_mask_;
#pragma GCC unroll 8
    for (int i = 0; i < rounds; ++i) {
      const int r = Inverse ? rounds - 1 - i : i;
      if (r % 2) low ^= mixed(high, keys_[r]) & low_mask_;
      else high ^= mixed(low, keys_[r]) & high_mask_;
    }
    return std::uint64_t{high} << low_bits_ | low;
  }

 private:
  static constexpr int rounds = 8;
  struct RoundKey {
    std::uint32_t before = 0, between = 0;
  };

  static constexpr std::uint32_t mask(int bits) { return static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1); }
  /// Computes lowbias32 (Wellons, "Prospecting for hash functions", 2018) with a key at both multiplications.
  [[gnu::always_inline]] static std::uint32_t mixed(std::uint32_t x, const RoundKey& key) {
    x ^= key.before;
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x ^= key.between;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    return x ^ (x >> 16);
  }

  int low_bits_ = 0;
  std::uint32_t high_mask_ = 0, low_mask_ = 0;
  RoundKey keys_[rounds] = {};
};

}  // namespace heatpp::random::detail
