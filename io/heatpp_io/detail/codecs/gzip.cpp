#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/detail/codecs/inflate_whole.hpp>

#include <zlib.h>

#include <limits>
#include <memory>

namespace heatpp::io::detail {
namespace {

std::optional<std::vector<std::byte>> compress_gzip(Block block, int level, int) {
  auto size = compressBound(block.size());
  std::vector<std::byte> packed(size);
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(block.data()),
                block.size(), level) != Z_OK)
    return std::nullopt;
  packed.resize(size);
  return packed;
}

std::optional<std::vector<std::byte>> compress_file(Block block, int level, int) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return std::nullopt;
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, deflateEnd);
  std::vector<std::byte> packed(deflateBound(&stream, block.size()));
  if (packed.size() > std::numeric_limits<uInt>::max()) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(block.data()));
  stream.avail_in = static_cast<uInt>(block.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) return std::nullopt;
  packed.resize(stream.total_out);
  return packed;
}

}  // namespace

const BlockCodec gzip_blocks{inflate_whole, compress_gzip, nullptr};
const BlockCodec gzip_file_blocks{inflate_whole, compress_file, nullptr};

}  // namespace heatpp::io::detail
