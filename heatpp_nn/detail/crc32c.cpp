#include <heatpp_nn/detail/crc32c.hpp>

#include <array>
#include <cstring>

namespace heatpp::nn::detail {
namespace {

using Table = std::array<std::array<std::uint32_t, 256>, 8>;

// tables[k][b] is the checksum of byte b followed by k zero bytes, so one step processes eight bytes.
constexpr Table make_tables() {
  constexpr std::uint32_t polynomial = 0x82f63b78;  // bits in reverse order
  Table tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ polynomial : crc >> 1;
    tables[0][b] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t b = 0; b < 256; ++b) tables[k][b] = tables[k - 1][b] >> 8 ^ tables[0][tables[k - 1][b] & 255];
  return tables;
}

constexpr Table tables = make_tables();

std::uint32_t eight_bytes(std::uint32_t crc, const std::byte* data) {
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    const auto mixed = std::to_integer<std::uint32_t>(data[i]) ^ (i < 4 ? crc >> 8 * i & 255 : 0);
    next ^= tables[7 - i][mixed];
  }
  return next;
}

std::uint32_t words_by_tables(std::uint32_t crc, const std::byte* data, std::size_t words) {
  for (std::size_t i = 0; i < words; ++i) crc = eight_bytes(crc, data + 8 * i);
  return crc;
}

#ifdef __x86_64__
/// Uses the instruction for this checksum, which is several times as fast.
__attribute__((target("sse4.2"))) std::uint32_t words_by_instruction(std::uint32_t crc, const std::byte* data,
                                                                     std::size_t words) {
  std::uint64_t wide = crc;
  for (std::size_t i = 0; i < words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + 8 * i, sizeof word);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  return static_cast<std::uint32_t>(wide);
}

std::uint32_t add_words(std::uint32_t crc, const std::byte* data, std::size_t words) {
  static const bool found = __builtin_cpu_supports("sse4.2");
  return found ? words_by_instruction(crc, data, words) : words_by_tables(crc, data, words);
}
#else
std::uint32_t add_words(std::uint32_t crc, const std::byte* data, std::size_t words) {
  return words_by_tables(crc, data, words);
}
#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> data, std::uint32_t before) {
  std::uint32_t crc = add_words(~before, data.data(), data.size() / 8);
  for (auto i = data.size() / 8 * 8; i < data.size(); ++i)
    crc = crc >> 8 ^ tables[0][(crc ^ std::to_integer<std::uint32_t>(data[i])) & 255];
  return ~crc;
}

}  // namespace heatpp::nn::detail
