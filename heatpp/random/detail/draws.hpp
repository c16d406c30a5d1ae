#pragma once

#include <cmath>
#include <heatpp/random/detail/chunks.hpp>
#include <heatpp/random/detail/lanes.hpp>
#include <heatpp/random/detail/philox.hpp>
#include <utility>

namespace heatpp::random::detail {

/// Whether a parameter is at least 0. As in NumPy, a negative zero is not.
[[nodiscard]] inline bool not_negative(double x) { return x >= 0 && !std::signbit(x); }

/// The random numbers of one element, as many as it requests: blocks of its own counter. So an element is a function of
/// the key and its counter, however often a sampler rejects.
class Draws {
 public:
  /// Draws for the element with `counter`, at `lane` of those that have drawn `first` ahead.
  Draws(Key key, std::uint64_t counter, First first, const Ahead& ahead, std::int64_t lane)
      : key_(key),
        counter_(counter),
        words_{ahead.words[0][lane], ahead.words[1][lane], ahead.words[2][lane], ahead.words[3][lane]} {
    if (first == First::exponential || first == First::logit) half_ = 1, ahead_ = ahead.numbers[0][lane];
    if (first == First::normals) draw_ = 1, normals_ = {ahead.numbers[1][lane], ahead.numbers[0][lane]}, left_ = 2;
  }
  /// Draws from the block `draw` of the counter on.
  Draws(Key key, std::uint64_t counter, std::uint32_t draw = 0)
      : key_(key), counter_(counter), words_(philox(counter_of(counter, draw), key)), draw_(draw) {}

  [[nodiscard]] std::uint64_t bits() {
    const auto [low, high] = next();
    return joined(low, high);
  }
  /// Draws uniformly in the open interval (0, 1).
  [[nodiscard]] double uniform() { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52; }
  /// Draws a standard exponential number: never 0, and up to 37.
  [[nodiscard]] double exponential() {
    return made_ahead([](auto u) { return -log_of(u); });
  }
  /// Draws log(u / (1 - u)) of a uniform number u.
  [[nodiscard]] double logit() {
    return made_ahead([](auto u) { return logit_of(u); });
  }
  /// Draws a standard normal number. They are made in pairs.
  [[nodiscard]] double normal() {
    if (left_ == 0) {
      const auto [low, high] = next();
      const auto radius = unit(low, high);
      const auto [low2, high2] = next();
      const auto pair = normal_pair(radius, direction(low2, high2));
      normals_ = {pair.second, pair.first};
      left_ = 2;
    }
    return normals_[--left_];
  }
  /// Draws uniformly in 0 .. bound - 1 without bias (Lemire 2019); any 64 bits for bound 0.
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
  /// Returns the number that was drawn ahead, or f(u) for a uniform number u.
  template <class F>
  [[nodiscard]] double made_ahead(F f) {
    if (!std::isnan(ahead_)) return std::exchange(ahead_, NAN);
    const auto [low, high] = next();
    return f(unit(low, high));
  }

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
  double ahead_ = NAN;
  std::array<double, 2> normals_{};
  std::size_t left_ = 0;  // number of normal ones
};

}  // namespace heatpp::random::detail
