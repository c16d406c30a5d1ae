#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/detail/codecs/inflate_whole.hpp>

#include <zlib.h>

namespace heatpp::io::detail {
namespace {

std::optional<std::vector<std::byte>> compress(Block block, int level, int) {
  auto size = compressBound(block.size());
  std::vector<std::byte> packed(size);
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(block.data()),
                block.size(), level) != Z_OK)
    return std::nullopt;
  packed.resize(size);
  return packed;
}

}  // namespace

const BlockCodec gzip_blocks{inflate_whole, compress, nullptr};

}  // namespace heatpp::io::detail
