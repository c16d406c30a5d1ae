#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heatpp::io::detail {

/// Returns the number in the `bytes` bytes of `text` from `at` on, which must exist.
[[nodiscard]] inline std::uint64_t little_endian(std::string_view text, std::size_t at, int bytes) {
  std::uint64_t value = 0;
  for (int i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)]);
  return value;
}

inline void append_little_endian(std::string& text, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i, value >>= 8) text.push_back(static_cast<char>(value & 0xff));
}

}  // namespace heatpp::io::detail
