#include <heatpp_io/detail/codecs/codecs.hpp>

namespace heatpp::io::detail {

const BlockCodec* block_codec(Codec codec) {
  switch (codec) {
    case Codec::gzip: return &gzip_blocks;
#if HEATPP_HAS_ZSTD
    case Codec::zstd: return &zstd_blocks;
#endif
#if HEATPP_HAS_LZ4
    case Codec::lz4: return &lz4_blocks;
#endif
#if HEATPP_HAS_BLOSC
    case Codec::blosc: return &blosc_blocks;
#endif
    default: return nullptr;
  }
}

const BlockCodec* block_codec(std::string_view name) {
#if HEATPP_HAS_BZ2
  if (name == "bz2") return &bz2_blocks;
#endif
#if HEATPP_HAS_LZMA
  if (name == "lzma") return &lzma_blocks;
#endif
  if (name == "gzip") return &gzip_file_blocks;
  if (name == "zlib") return &gzip_blocks;
  for (const auto codec : {Codec::zstd, Codec::lz4, Codec::blosc})
    if (name == name_of(codec)) return block_codec(codec);
  return nullptr;
}

}  // namespace heatpp::io::detail
