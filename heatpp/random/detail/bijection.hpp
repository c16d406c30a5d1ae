#pragma once

#include <bit>
#include <cstdint>
#include <heatpp/random/detail/draws.hpp>
#include <numeric>
#include <vector>

namespace heatpp::random::detail {

/// A random permutation of 0 .. n - 1 that is computed where it is needed. Short ones are shuffled (Fisher, Yates), so
/// that each is as likely; long ones are an alternating Feistel network over the next power of two, walked on until it
/// comes back into the range (Black, Rogaway, "Ciphers with arbitrary finite domains", 2002).
class Bijection {
 public:
  Bijection(Key key, std::uint64_t counter, std::int64_t n) : n_(static_cast<std::uint64_t>(n)) {
    if (n <= shuffled_up_to) {
      shuffle(key, counter);
      return;
    }
    const auto bits = std::bit_width(n_ - 1);
    low_bits_ = bits / 2;
    high_mask_ = (std::uint64_t{1} << (bits - low_bits_)) - 1;
    low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
    for (std::uint32_t i = 0; i < rounds; ++i) {
      const auto words = philox(counter_of(counter, i, Purpose::permutation), key);
      keys_[i] = joined(words[0], words[1]);
    }
  }

  [[nodiscard]] std::int64_t operator()(std::int64_t i) const {
    if (!table_.empty()) return table_[static_cast<std::size_t>(i)];
    auto x = static_cast<std::uint64_t>(i);
    do {
      for (std::size_t r = 0; r < rounds; ++r) x = round(x, r);
    } while (x >= n_);
    return static_cast<std::int64_t>(x);
  }
  [[nodiscard]] std::int64_t inverse(std::int64_t i) const {
    if (!table_.empty()) return inverse_[static_cast<std::size_t>(i)];
    auto x = static_cast<std::uint64_t>(i);
    do {
      for (std::size_t r = rounds; r-- > 0;) x = round(x, r);
    } while (x >= n_);
    return static_cast<std::int64_t>(x);
  }

 private:
  static constexpr std::int64_t shuffled_up_to = 4096;
  static constexpr std::size_t rounds = 8;

  void shuffle(Key key, std::uint64_t counter) {
    table_.resize(n_);
    inverse_.resize(n_);
    std::iota(table_.begin(), table_.end(), std::int64_t{0});
    Draws draws(key, counter, philox(counter_of(counter), key));
    for (auto i = n_; i > 1; --i) std::swap(table_[i - 1], table_[draws.below(i)]);
    for (std::size_t i = 0; i < n_; ++i) inverse_[static_cast<std::size_t>(table_[i])] = static_cast<std::int64_t>(i);
  }

  /// Its own inverse: one half changes by a function of the other.
  [[nodiscard]] std::uint64_t round(std::uint64_t x, std::size_t r) const {
    const auto high = x >> low_bits_, low = x & low_mask_;
    if (r % 2) return high << low_bits_ | (low ^ (mixed(high ^ keys_[r]) & low_mask_));
    return (high ^ (mixed(low ^ keys_[r]) & high_mask_)) << low_bits_ | low;
  }
  /// The finaliser of splitmix64 (Steele, Lea, Flood 2014).
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }

  std::uint64_t n_;
  int low_bits_ = 0;
  std::uint64_t high_mask_ = 0, low_mask_ = 0;
  std::uint64_t keys_[rounds] = {};
  std::vector<std::int64_t> table_, inverse_;
};

}  // namespace heatpp::random::detail
