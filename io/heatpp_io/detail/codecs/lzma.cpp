#include <heatpp_io/detail/codecs/codecs.hpp>

#include <lzma.h>

namespace heatpp::io::detail {
namespace {

constexpr std::uint64_t most_memory = std::uint64_t{1} << 30;  // limit for dictionaries

const std::uint8_t* bytes_of(Block block) { return reinterpret_cast<const std::uint8_t*>(block.data()); }

bool decompress_lzma(Block stored, std::span<std::byte> out) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_auto_decoder(&stream, most_memory, 0) != LZMA_OK) return false;
  stream.next_in = bytes_of(stored);
  stream.avail_in = stored.size();
  stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream.avail_out = out.size();
  const auto result = lzma_code(&stream, LZMA_FINISH);
  const bool whole = result == LZMA_STREAM_END && stream.avail_in == 0 && stream.avail_out == 0;
  lzma_end(&stream);
  return whole;
}

std::optional<std::vector<std::byte>> compress_lzma(Block block, int level, int) {
  std::vector<std::byte> packed(lzma_stream_buffer_bound(block.size()));
  std::size_t size = 0;
  if (lzma_easy_buffer_encode(static_cast<std::uint32_t>(level), LZMA_CHECK_CRC64, nullptr, bytes_of(block),
                              block.size(), reinterpret_cast<std::uint8_t*>(packed.data()), &size,
                              packed.size()) != LZMA_OK)
    return std::nullopt;
  packed.resize(size);
  return packed;
}

}  // namespace

const BlockCodec lzma_blocks{decompress_lzma, compress_lzma, nullptr};

}  // namespace heatpp::io::detail
