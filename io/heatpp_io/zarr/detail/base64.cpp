#include <heatpp_io/zarr/detail/base64.hpp>

#include <bit>
#include <cstdint>
#include <string_view>

namespace heatpp::io::detail {
namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
// 64 bits are ten digits of 6 bits and one of 4, padded with two zeros.
constexpr std::size_t count = 11;

/// Digits contain bytes in the order of the file; the first bits of a byte are its highest.
std::uint64_t swapped(std::uint64_t bits) {
  return std::endian::native == std::endian::little ? __builtin_bswap64(bits) : bits;
}

}  // namespace

std::optional<double> number_from_base64(const std::string& text) {
  if (text.size() != count + 1 || text.back() != '=') return std::nullopt;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto digit = digits.find(text[i]);
    if (digit == std::string_view::npos || (i + 1 == count && digit % 4 != 0)) return std::nullopt;
    bits = i + 1 < count ? bits << 6 | digit : bits << 4 | digit >> 2;
  }
  return std::bit_cast<double>(swapped(bits));
}

std::string base64_of(double number) {
  const auto bits = swapped(std::bit_cast<std::uint64_t>(number));
  std::string text;
  for (std::size_t i = 0; i + 1 < count; ++i) text.push_back(digits[bits >> (58 - 6 * i) & 63]);
  return text + digits[(bits & 15) << 2] + "=";
}

}  // namespace heatpp::io::detail
