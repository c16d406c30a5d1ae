#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace heatpp::detail {

/// The exact sum of floating-point numbers, and of products of two of them. It is a whole number with as many digits to
/// the base 2^32 as it needs, each with room for carries (a superaccumulator: Kulisch; Neal, "Fast exact summation
/// using small and large superaccumulators", arXiv:1505.05571). Nothing is rounded before the end, so neither the order
/// nor the grouping changes the result. Infinities and NaN are summed apart.
class ExactSum {
 public:
  void add(double x);
  void add_product(double a, double b);
  /// Adds value * 2^bit, for -2176 <= bit and a sum below 2^2144.
  void add_at(std::int64_t value, int bit);
  ExactSum& operator+=(const ExactSum& other);

  /// The number mantissa * 2^exponent, or 0, an infinity or NaN with any exponent.
  struct Rounded {
    double mantissa;
    int exponent;
  };
  /// Rounds to at most `bits` bits, up to 53, of which the last is at least 2^lowest: to the nearest such number, and
  /// to the even one of two. An exact 0 is +0; NaN is the one of <limits>.
  [[nodiscard]] Rounded rounded(int bits, int lowest);
  /// Returns the rounded sum as a number, by default the nearest float64; infinite above the largest one.
  [[nodiscard]] double value(int bits = 53, int lowest = -1074);

  // These functions serve the transport between ranks.
  /// Brings digits into their range, and drops those that are 0 at both ends.
  void carry();
  /// Digits of the number after carry(). It is a multiple of 2^(32 low) and lies in [-2^(32 high - 1), 2^(32 high -
  /// 1)). Both are 0 for 0.
  [[nodiscard]] int low() const { return low_; }
  [[nodiscard]] int high() const { return high_; }
  /// Writes the number, after carry(), as the sum of words[i] * 2^(32 low + i bits), for bits < 64. All words except
  /// the last are in [0, 2^bits); the absolute value of the last is at most 2^(bits - 1).
  void pack(int low, int bits, std::span<std::int64_t> words) const;
  /// Returns the sum of the numbers that are not finite; 0 if there are none.
  [[nodiscard]] double special() const { return special_; }

 private:
  [[nodiscard]] std::int64_t& slot(int digit) {
    return many_ ? many_[static_cast<std::size_t>(digit) % many] : few_[static_cast<std::size_t>(digit) % few];
  }
  [[nodiscard]] std::int64_t digit(int digit) const;
  [[nodiscard]] std::int64_t& at(int digit);
  void make_room();
  void negate();

  static constexpr std::size_t few = 8, many = 256;  // digits; never more than 136 are needed
  int low_ = 0, high_ = 0;                           // the digits in use: low_ .. high_ - 1
  std::int64_t additions_ = 0;                       // since the last carry
  double special_ = 0;
  std::array<std::int64_t, few> few_;  // by the last bits of a digit's number; only digits in use have values
  std::unique_ptr<std::int64_t[]> many_;
};

}  // namespace heatpp::detail
