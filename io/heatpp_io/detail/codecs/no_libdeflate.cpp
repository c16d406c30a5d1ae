#include <heatpp_io/detail/codecs/inflate_whole.hpp>

#include <zlib.h>

namespace heatpp::io::detail {

bool inflate_whole(std::span<const std::byte> stream, std::span<std::byte> out) {
  auto taken = static_cast<uLong>(stream.size());
  auto given = static_cast<uLongf>(out.size());
  return uncompress2(reinterpret_cast<Bytef*>(out.data()), &given, reinterpret_cast<const Bytef*>(stream.data()),
                     &taken) == Z_OK &&
         taken == stream.size() && given == out.size();
}

}  // namespace heatpp::io::detail
