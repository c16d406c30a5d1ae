#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

namespace heatpp::io::detail {

// Parses numbers of few digits without a call. The caller passes other numbers to std::from_chars.

template <class T>
concept ShortNumber = (std::integral<T> && !std::same_as<T, bool>) || std::same_as<T, float> || std::same_as<T, double>;

/// The number that some digits form.
struct Digits {
  std::uint64_t number = 0;
  std::size_t count = 0;  ///< number of digits, including leading zeros
};
inline constexpr std::size_t most_digits = 18;  // always fit in 64 bits

/// Whether all of eight bytes are digits.
[[nodiscard]] inline bool are_digits(std::uint64_t bytes) {
  constexpr std::uint64_t high = 0xF0F0F0F0F0F0F0F0, zeros = 0x3030303030303030, six = 0x0606060606060606;
  return ((bytes & high) ^ zeros) == 0 && (((bytes + six) & high) ^ zeros) == 0;
}

/// Returns the number of eight digits, of which the first is the lowest byte: joins digits to pairs, pairs to fours,
/// and fours to eight.
[[nodiscard]] inline std::uint64_t number_of(std::uint64_t bytes) {
  constexpr std::uint64_t every_second = 0x00FF00FF00FF00FF, every_fourth = 0x0000FFFF0000FFFF;
  bytes -= 0x3030303030303030;
  bytes = (bytes * 10 + (bytes >> 8)) & every_second;
  bytes = (bytes * 100 + (bytes >> 16)) & every_fourth;
  return (bytes * 10'000 + (bytes >> 32)) & 0xFFFFFFFF;
}

/// Appends digits to those that are known. Stops after at most `most_digits` + 1.
inline void take_digits(const char*& at, const char* end, Digits& digits) {
  constexpr std::size_t eight = 8;
  std::uint64_t bytes = 0;
  while (end - at >= std::ptrdiff_t{eight} && digits.count <= most_digits - eight) {
    std::memcpy(&bytes, at, eight);
    if (!are_digits(bytes)) break;
    digits = {digits.number * 100'000'000 + number_of(bytes), digits.count + eight};
    at += eight;
  }
  for (; at != end && digits.count <= most_digits; ++at, ++digits.count) {
    const auto digit = static_cast<unsigned>(*at) - '0';
    if (digit > 9) return;
    digits.number = digits.number * 10 + digit;
  }
}

/// Takes a whole number of at most `most_digits` that T can hold. Returns false and leaves `text` for other numbers.
template <std::integral T>
[[nodiscard]] bool take_short(std::string_view& text, T& value) {
  const auto* at = text.data();
  const auto* const end = at + text.size();
  const bool negative = at != end && *at == '-';
  at += negative;
  Digits digits;
  take_digits(at, end, digits);
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  if (digits.count == 0 || digits.count > most_digits || digits.number > most || (negative && !std::signed_integral<T>))
    return false;
  const auto number = static_cast<std::int64_t>(digits.number);
  value = static_cast<T>(negative ? -number : number);
  text.remove_prefix(static_cast<std::size_t>(at - text.data()));
  return true;
}

/// Powers of ten that T represents exactly. The quotient of two exact numbers is rounded once (Clinger, PLDI 1990).
template <std::floating_point T>
inline constexpr std::size_t exact_powers = std::same_as<T, float> ? 11 : 23;
template <std::floating_point T>
inline constexpr auto powers_of_ten = [] {
  std::array<T, exact_powers<T>> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

/// Takes a decimal without an exponent whose value is the quotient of two exact numbers. Returns false and leaves
/// `text` for other numbers.
template <std::floating_point T>
[[nodiscard]] bool take_short(std::string_view& text, T& value) {
  constexpr auto most = std::uint64_t{1} << std::numeric_limits<T>::digits;
  const auto* at = text.data();
  const auto* const end = at + text.size();
  const bool negative = at != end && *at == '-';
  at += negative;
  Digits digits;
  take_digits(at, end, digits);
  const auto before = digits.count;
  if (at != end && *at == '.') take_digits(++at, end, digits);
  const auto behind = digits.count - before;
  if (digits.count == 0 || digits.count > most_digits || digits.number > most || behind >= exact_powers<T>)
    return false;
  if (at != end && (*at == 'e' || *at == 'E')) return false;
  const auto quotient = static_cast<T>(digits.number) / powers_of_ten<T>[behind];
  value = negative ? -quotient : quotient;
  text.remove_prefix(static_cast<std::size_t>(at - text.data()));
  return true;
}

}  // namespace heatpp::io::detail
