#include <heatpp/comm/detail/reproducible/exact_sum.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace heatpp::detail {
namespace {

constexpr int digit_bits = 32;
constexpr std::int64_t digit_mask = 0xffffffff;
constexpr std::int64_t most_additions = std::int64_t{1} << 30;  // of 32 bits each, which 63 bits can hold

using Int128 = __int128;

struct BinaryNumber {
  std::int64_t mantissa;
  int exponent;
};
/// Splits a finite number into its parts.
BinaryNumber parts_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto biased = static_cast<int>(bits >> 52 & 0x7ff);
  const auto fraction = static_cast<std::int64_t>(bits & 0xfffffffffffff);
  const auto mantissa = biased == 0 ? fraction : fraction | std::int64_t{1} << 52;
  return {x < 0 ? -mantissa : mantissa, std::max(biased, 1) - 1075};
}

int floor_div(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

}  // namespace

std::int64_t ExactSum::digit(int digit) const {
  if (digit < low_ || digit >= high_) return 0;
  return many_ ? many_[static_cast<std::size_t>(digit) % many] : few_[static_cast<std::size_t>(digit) % few];
}

void ExactSum::make_room() {
  if (many_ || high_ - low_ < static_cast<int>(few)) return;
  auto all = std::make_unique<std::int64_t[]>(many);
  for (int i = low_; i < high_; ++i) all[static_cast<std::size_t>(i) % many] = digit(i);
  many_ = std::move(all);
}

std::int64_t& ExactSum::at(int digit) {
  if (low_ == high_) low_ = high_ = digit;
  while (digit < low_) {
    make_room();
    slot(--low_) = 0;
  }
  while (digit >= high_) {
    make_room();
    slot(high_++) = 0;
  }
  return slot(digit);
}

void ExactSum::add_at(std::int64_t value, int bit) {
  if (value == 0) return;
  if (++additions_ > most_additions) carry();
  const int first = floor_div(bit, digit_bits);
  const auto shifted = static_cast<Int128>(value) * (Int128{1} << (bit - first * digit_bits));
  at(first) += static_cast<std::int64_t>(shifted) & digit_mask;
  const auto rest = static_cast<std::int64_t>(shifted >> digit_bits);
  if (rest == 0) return;
  at(first + 1) += rest & digit_mask;
  if (const auto last = rest >> digit_bits; last != 0) at(first + 2) += last;
}

void ExactSum::add(double x) {
  if (!std::isfinite(x)) {
    special_ += x;
    return;
  }
  const auto [mantissa, exponent] = parts_of(x);
  add_at(mantissa, exponent);
}

void ExactSum::add_product(double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) {
    special_ += a * b;
    return;
  }
  const auto x = parts_of(a), y = parts_of(b);
  const auto product = static_cast<Int128>(x.mantissa) * y.mantissa;
  constexpr int half = 60;
  add_at(static_cast<std::int64_t>(product & ((Int128{1} << half) - 1)), x.exponent + y.exponent);
  add_at(static_cast<std::int64_t>(product >> half), x.exponent + y.exponent + half);
}

ExactSum& ExactSum::operator+=(const ExactSum& other) {
  special_ += other.special_;
  for (int i = other.low_; i < other.high_; ++i) add_at(other.digit(i), i * digit_bits);
  return *this;
}

/// All digits except the last, which keeps the sign, become digits to the base 2^32.
void ExactSum::carry() {
  additions_ = 0;
  std::int64_t carried = 0;
  for (int i = low_; i < high_ || carried != 0; ++i) {
    const bool last = i >= high_ - 1;
    auto& digit = at(i);
    digit += carried;
    carried = last && digit >= -(digit_mask + 1) / 2 && digit <= digit_mask / 2 ? 0 : digit >> digit_bits;
    if (carried != 0 || !last) digit &= digit_mask;
  }
  while (low_ < high_ && slot(low_) == 0) ++low_;
  while (low_ < high_ && slot(high_ - 1) == 0 && (high_ - 1 == low_ || slot(high_ - 2) <= digit_mask / 2)) --high_;
  if (low_ == high_) low_ = high_ = 0;
}

void ExactSum::negate() {
  for (int i = low_; i < high_; ++i) slot(i) = -slot(i);
  carry();
}

ExactSum::Rounded ExactSum::rounded(int bits, int lowest) {
  if (special_ != special_) return {std::numeric_limits<double>::quiet_NaN(), 0};
  if (special_ != 0) return {special_, 0};
  carry();
  if (low_ == high_) return {0, 0};
  const bool negative = slot(high_ - 1) < 0;
  if (negative) negate();
  int top = high_ - 1;
  if (slot(top) == 0) --top;
  using Unsigned = unsigned __int128;
  Unsigned first = 0;
  for (int i = top; i > top - 3; --i) first = first << digit_bits | static_cast<Unsigned>(digit(i));
  bool more = false;  // behind these digits
  for (int i = low_; i < top - 2; ++i) more = more || slot(i) != 0;
  if (negative) negate();

  const int length = 2 * digit_bits + std::bit_width(static_cast<std::uint64_t>(first >> (2 * digit_bits)));
  const int unit = (top - 2) * digit_bits;
  const int cut = std::max(length - bits, lowest - unit);
  if (cut > length) return {negative ? -0.0 : 0.0, 0};
  auto kept = static_cast<std::uint64_t>(first >> cut);
  const auto rest = first & ((Unsigned{1} << cut) - 1), half = Unsigned{1} << (cut - 1);
  if (rest > half || (rest == half && (more || kept % 2 == 1))) ++kept;
  const auto mantissa = static_cast<double>(kept);
  return {negative ? -mantissa : mantissa, unit + cut};
}

double ExactSum::value(int bits, int lowest) {
  const auto [mantissa, exponent] = rounded(bits, lowest);
  return std::ldexp(mantissa, exponent);
}

void ExactSum::pack(int low, int bits, std::span<std::int64_t> words) const {
  const auto sign = digit(high_ - 1) < 0 ? digit_mask : 0;
  const auto digit_of = [&](int i) { return i >= high_ ? sign : digit(i) & digit_mask; };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const int first = static_cast<int>(i) * bits, from = low + first / digit_bits;
    unsigned __int128 together = 0;
    for (int d = 3; d-- > 0;) together = together << digit_bits | static_cast<unsigned __int128>(digit_of(from + d));
    const auto up = static_cast<std::uint64_t>(together >> (first % digit_bits)) << (64 - bits);
    words[i] = i + 1 < words.size() ? static_cast<std::int64_t>(up >> (64 - bits))
                                    : static_cast<std::int64_t>(up) >> (64 - bits);
  }
}

}  // namespace heatpp::detail
