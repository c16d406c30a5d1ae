#pragma once

#include <cmath>
#include <heatpp/random/detail/lanes.hpp>
#include <heatpp/random/detail/philox.hpp>

namespace heatpp::random::detail {

/// Whether a parameter is at least 0. As in NumPy a negative zero is not.
[[nodiscard]] inline bool not_negative(double x) { return x >= 0 && !std::signbit(x); }

/// The random numbers of one element, as many as it asks for: blocks of its own counter. So an element is a function of
/// the key and its counter however often a sampler rejects.
class Draws {
 public:
  Draws(Key key, std::uint64_t counter, const Words& first) : key_(key), counter_(counter), words_(first) {}
  /// From the block `draw` of the counter on.
  Draws(Key key, std::uint64_t counter, std::uint32_t draw = 0)
      : key_(key), counter_(counter), words_(philox(counter_of(counter, draw), key)), draw_(draw) {}

  [[nodiscard]] std::uint64_t bits() {
    const auto [low, high] = next();
    return joined(low, high);
  }
  /// Uniform in the open interval (0, 1).
  [[nodiscard]] double uniform() { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52; }
  /// Standard exponential: never 0, and up to 37.
  [[nodiscard]] double exponential() {
    const auto [low, high] = next();
    return -log_of(unit(low, high));
  }
  [[nodiscard]] double normal() {
    const auto [low, high] = next();
    const auto radius = unit(low, high);
    const auto [low2, high2] = next();
    return normal_pair(radius, direction(low2, high2)).first;
  }
  /// Uniform in 0 .. bound - 1 without bias (Lemire 2019); any 64 bits for bound 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) {
    using Wide = unsigned __int128;
    auto word = bits();
    if (bound == 0) return word;
    auto product = static_cast<Wide>(word) * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const auto least = -bound % bound;
      while (static_cast<std::uint64_t>(product) < least) product = static_cast<Wide>(bits()) * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

 private:
  struct Two {
    std::uint32_t low, high;
  };
  [[nodiscard]] Two next() {
    if (half_ == 2) {
      words_ = philox(counter_of(counter_, ++draw_), key_);
      half_ = 0;
    }
    const auto at = 2 * half_++;
    return {words_[at], words_[at + 1]};
  }

  Key key_;
  std::uint64_t counter_;
  Words words_;
  std::size_t half_ = 0;
  std::uint32_t draw_ = 0;
};

}  // namespace heatpp::random::detail
