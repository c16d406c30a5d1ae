#include <heatpp_io/detail/codecs/codecs.hpp>

#include <zstd.h>

namespace heatpp::io::detail {
namespace {

bool decompress(Block stored, std::span<std::byte> out) {
  return ZSTD_decompress(out.data(), out.size(), stored.data(), stored.size()) == out.size();
}

std::optional<std::vector<std::byte>> compress(Block block, int level, int) {
  std::vector<std::byte> packed(ZSTD_compressBound(block.size()));
  const auto size = ZSTD_compress(packed.data(), packed.size(), block.data(), block.size(), level);
  if (ZSTD_isError(size)) return std::nullopt;
  packed.resize(size);
  return packed;
}

std::optional<std::size_t> size(Block stored) {
  const auto bytes = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (bytes == ZSTD_CONTENTSIZE_ERROR || bytes == ZSTD_CONTENTSIZE_UNKNOWN) return std::nullopt;
  return bytes;
}

}  // namespace

const BlockCodec zstd_blocks{decompress, compress, size};

}  // namespace heatpp::io::detail
