#include <heatpp_io/detail/codecs/inflate_whole.hpp>

#include <libdeflate.h>

#include <memory>

namespace heatpp::io::detail {

bool inflate_whole(std::span<const std::byte> stream, std::span<std::byte> out) {
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> inflater(
      libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  std::size_t taken = 0, given = 0;
  const bool gzip = !stream.empty() && stream[0] == std::byte{0x1f};
  const auto inflate = gzip ? libdeflate_gzip_decompress_ex : libdeflate_zlib_decompress_ex;
  return inflater &&
         inflate(inflater.get(), stream.data(), stream.size(), out.data(), out.size(), &taken, &given) ==
             LIBDEFLATE_SUCCESS &&
         taken == stream.size() && given == out.size();
}

}  // namespace heatpp::io::detail
