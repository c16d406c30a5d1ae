#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

/// Sums numbers exactly, as a sum of numbers that do not overlap (Shewchuk, "Adaptive precision floating-point
/// arithmetic", 1997). The library uses another method.
class ExactOracle {
 public:
  void add(double x) {
    if (!std::isfinite(x)) {
      special_ += x;
      return;
    }
    std::size_t kept = 0;
    for (auto part : parts_) {
      if (std::abs(x) < std::abs(part)) std::swap(x, part);
      const double sum = x + part, lost = part - (sum - x);
      if (lost != 0) parts_[kept++] = lost;
      x = sum;
    }
    parts_.resize(kept);
    parts_.push_back(x);
  }

  /// Rounded once, to the nearest T, ties to even.
  template <class T>
  [[nodiscard]] T rounded() const {
    if (special_ != special_) return std::numeric_limits<T>::quiet_NaN();
    if (special_ != 0) return static_cast<T>(special_);
    auto rest = parts_;
    double sum = 0, below = 0;
    while (!rest.empty() && below == 0) {
      const double part = rest.back(), more = sum + part;
      rest.pop_back();
      below = part - (more - sum);
      sum = more;
    }
    if (below == 0) return static_cast<T>(sum) + T{0};
    if constexpr (sizeof(T) == sizeof(double)) {
      // If `below` is half a unit and the rest lies on the same side, the nearest number is the next one.
      if (!rest.empty() && (rest.back() < 0) == (below < 0)) {
        const double twice = 2 * below, other = sum + twice;
        if (other - sum == twice) return other;
      }
      return sum;
    } else {  // rounds to odd first, which keeps the bit that decides a tie
      auto bits = std::bit_cast<std::uint64_t>(sum);
      if ((below < 0) != (sum < 0)) --bits;
      return static_cast<T>(std::bit_cast<double>(bits | 1));
    }
  }

 private:
  std::vector<double> parts_;
  double special_ = 0;
};

template <class T>
[[nodiscard]] T exact_sum_of(std::span<const T> values) {
  ExactOracle oracle;
  for (const T x : values) oracle.add(static_cast<double>(x));
  return oracle.rounded<T>();
}

template <class T>
[[nodiscard]] bool same_bits(T a, T b) {
  return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
}

/// Kinds of numbers whose sum depends on the order in which they are added.
inline constexpr int hostile_kinds = 8;
template <class T>
[[nodiscard]] std::vector<T> hostile(int kind, std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed * 16 + static_cast<unsigned>(kind));
  std::normal_distribution<T> normal;
  std::vector<T> data(count);
  using Limits = std::numeric_limits<T>;
  // Only kind 5 has the largest exponents; its partial sums overflow.
  const int lowest = Limits::min_exponent - Limits::digits, highest = Limits::max_exponent - 40;
  for (std::size_t i = 0; i < count; ++i) {
    const T x = normal(random);
    const auto pick = random();
    switch (kind) {
      case 0: data[i] = x; break;
      case 1:
        data[i] = std::ldexp(x, lowest + static_cast<int>(pick % static_cast<std::uint64_t>(highest - lowest)));
        break;
      case 2: data[i] = pick % 3 == 0 ? T(1e30) : pick % 3 == 1 ? T(1) : T(-1e30); break;
      case 3: data[i] = static_cast<T>(static_cast<int>(pick % 2001) - 1000) * Limits::denorm_min(); break;
      case 4: data[i] = i % 2 == 0 ? x : -data[i - 1] + (pick % 64 == 0 ? Limits::epsilon() : T{0}); break;
      case 5: data[i] = (pick % 2 == 0 ? 1 : -1) * Limits::max() / 4 * (1 + (pick >> 8) % 3); break;
      case 6: data[i] = pick % 5 == 0 ? T(-0.0) : T(0); break;
      default: data[i] = x * std::pow(T(10), static_cast<T>(pick % 12)); break;
    }
  }
  return data;
}
