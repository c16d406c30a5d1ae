#include <heatpp_io/detail/codecs/crc32c.hpp>

#include <array>

namespace heatpp::io::detail {
namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  // Castagnoli's, lowest bit first (RFC 3720, appendix B.4)
constexpr std::size_t step = 8;

/// The contribution of a byte that is followed by 0 to 7 zero bytes.
constexpr auto tables = [] {
  std::array<std::array<std::uint32_t, 256>, step> all{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    auto sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? polynomial : 0);
    all[0][byte] = sum;
  }
  for (std::size_t zeros = 1; zeros < step; ++zeros)
    for (std::size_t byte = 0; byte < 256; ++byte)
      all[zeros][byte] = all[zeros - 1][byte] >> 8 ^ all[0][all[zeros - 1][byte] & 255];
  return all;
}();

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  std::uint32_t sum = ~std::uint32_t{0};
  for (; bytes.size() >= step; bytes = bytes.subspan(step)) {
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < step; ++i) {
      const auto before = i < 4 ? sum >> 8 * i & 255 : 0;
      next ^= tables[step - 1 - i][before ^ std::to_integer<std::uint32_t>(bytes[i])];
    }
    sum = next;
  }
  for (const auto byte : bytes) sum = sum >> 8 ^ tables[0][(sum ^ std::to_integer<std::uint32_t>(byte)) & 255];
  return ~sum;
}

}  // namespace heatpp::io::detail
