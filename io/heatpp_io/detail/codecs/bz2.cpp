#include <heatpp_io/detail/codecs/codecs.hpp>

#include <bzlib.h>

#include <climits>

namespace heatpp::io::detail {
namespace {

char* bytes_of(const std::byte* from) { return const_cast<char*>(reinterpret_cast<const char*>(from)); }

bool decompress_bz2(Block stored, std::span<std::byte> out) {
  if (stored.size() > INT_MAX || out.size() > INT_MAX) return false;
  auto size = static_cast<unsigned>(out.size());
  return BZ2_bzBuffToBuffDecompress(bytes_of(out.data()), &size, bytes_of(stored.data()),
                                    static_cast<unsigned>(stored.size()), 0, 0) == BZ_OK &&
         size == out.size();
}

std::optional<std::vector<std::byte>> compress_bz2(Block block, int level, int) {
  if (block.size() > INT_MAX / 2) return std::nullopt;
  std::vector<std::byte> packed(block.size() + block.size() / 100 + 601);  // the most, from the library's manual
  auto size = static_cast<unsigned>(packed.size());
  if (BZ2_bzBuffToBuffCompress(bytes_of(packed.data()), &size, bytes_of(block.data()),
                               static_cast<unsigned>(block.size()), level, 0, 0) != BZ_OK)
    return std::nullopt;
  packed.resize(size);
  return packed;
}

}  // namespace

const BlockCodec bz2_blocks{decompress_bz2, compress_bz2, nullptr};

}  // namespace heatpp::io::detail
