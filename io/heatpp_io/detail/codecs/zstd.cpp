#include <heatpp_io/detail/codecs/codecs.hpp>

#include <zstd.h>

#include <memory>

namespace heatpp::io::detail {
namespace {

// Contexts are expensive to make. So each thread keeps its own, unless a high level makes it large.
constexpr std::size_t most_kept = std::size_t{16} << 20;
using Compressor = std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)>;
using Decompressor = std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)>;

bool decompress_zstd(Block stored, std::span<std::byte> out) {
  thread_local const Decompressor context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  return context &&
         ZSTD_decompressDCtx(context.get(), out.data(), out.size(), stored.data(), stored.size()) == out.size();
}

std::optional<std::vector<std::byte>> compress_zstd(Block block, int level, int) {
  thread_local Compressor context(nullptr, &ZSTD_freeCCtx);
  if (!context) context.reset(ZSTD_createCCtx());
  if (!context) return std::nullopt;
  std::vector<std::byte> packed(ZSTD_compressBound(block.size()));
  const auto size = ZSTD_compressCCtx(context.get(), packed.data(), packed.size(), block.data(), block.size(), level);
  if (ZSTD_sizeof_CCtx(context.get()) > most_kept) context.reset();
  if (ZSTD_isError(size)) return std::nullopt;
  packed.resize(size);
  return packed;
}

std::optional<std::size_t> size_of_zstd(Block stored) {
  const auto bytes = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (bytes == ZSTD_CONTENTSIZE_ERROR || bytes == ZSTD_CONTENTSIZE_UNKNOWN) return std::nullopt;
  return bytes;
}

}  // namespace

const BlockCodec zstd_blocks{decompress_zstd, compress_zstd, size_of_zstd};

}  // namespace heatpp::io::detail
