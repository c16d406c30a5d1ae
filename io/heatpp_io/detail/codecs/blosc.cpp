#include <heatpp_io/detail/codecs/codecs.hpp>

#include <blosc.h>

namespace heatpp::io::detail {
namespace {

std::optional<std::size_t> size_of_blosc(Block stored) {
  std::size_t bytes = 0;
  if (stored.size() < BLOSC_MIN_HEADER_LENGTH || blosc_cbuffer_validate(stored.data(), stored.size(), &bytes) < 0)
    return std::nullopt;
  return bytes;
}

bool decompress_blosc(Block stored, std::span<std::byte> out) {
  if (size_of_blosc(stored) != out.size()) return false;
  return out.empty() || blosc_decompress_ctx(stored.data(), out.data(), out.size(), 1) == std::ssize(out);
}

std::optional<std::vector<std::byte>> compress_blosc(Block block, int level, int itemsize) {
  if (block.size() > BLOSC_MAX_BUFFERSIZE) return std::nullopt;
  std::vector<std::byte> packed(block.size() + BLOSC_MAX_OVERHEAD);
  const auto bytes = blosc_compress_ctx(level, BLOSC_SHUFFLE, static_cast<std::size_t>(itemsize), block.size(),
                                        block.data(), packed.data(), packed.size(), BLOSC_LZ4_COMPNAME, 0, 1);
  if (bytes <= 0) return std::nullopt;
  packed.resize(static_cast<std::size_t>(bytes));
  return packed;
}

}  // namespace

const BlockCodec blosc_blocks{decompress_blosc, compress_blosc, size_of_blosc};

}  // namespace heatpp::io::detail
