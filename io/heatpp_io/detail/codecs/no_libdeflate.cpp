#include <heatpp_io/detail/codecs/inflate_whole.hpp>

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace heatpp::io::detail {

bool inflate_whole(std::span<const std::byte> stream, std::span<std::byte> out) {
  constexpr std::size_t most = std::numeric_limits<uInt>::max();
  z_stream state{};
  if (inflateInit2(&state, MAX_WBITS + 32) != Z_OK) return false;  // 32: zlib or gzip
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&state, inflateEnd);
  state.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(stream.data()));
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  std::size_t unread = stream.size(), unwritten = out.size();
  int result = Z_OK;
  while (result == Z_OK) {
    if (state.avail_in == 0) unread -= state.avail_in = static_cast<uInt>(std::min(unread, most));
    if (state.avail_out == 0) unwritten -= state.avail_out = static_cast<uInt>(std::min(unwritten, most));
    result = inflate(&state, Z_NO_FLUSH);
  }
  return result == Z_STREAM_END && unread + state.avail_in == 0 && unwritten + state.avail_out == 0;
}

}  // namespace heatpp::io::detail
