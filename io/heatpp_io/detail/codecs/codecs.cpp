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

}  // namespace heatpp::io::detail
