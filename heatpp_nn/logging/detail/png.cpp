#include <heatpp_nn/logging/detail/png.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <zlib.h>

namespace heatpp::nn::detail {
namespace {

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift & 255));
  return bytes;
}

/// Returns length, type, data, and checksum of type and data.
std::string chunk(const std::string& type, const std::string& data) {
  const auto checked = type + data;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + checked + big_endian(static_cast<std::uint32_t>(sum));
}

std::string deflated(const std::string& data) {
  auto size = compressBound(data.size());
  std::string packed(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(data.data()),
               data.size()) != Z_OK)
    heatpp::detail::raise<MemoryError>("png", "got no memory to compress {} bytes; expected enough", data.size());
  packed.resize(size);
  return packed;
}

}  // namespace

std::string png(const Pixels& pixels) {
  const auto row_bytes = static_cast<std::size_t>(pixels.width * pixels.channels);
  std::string rows;
  for (std::size_t row = 0; row < static_cast<std::size_t>(pixels.height); ++row) {
    rows.push_back(0);  // no filter
    const auto bytes = pixels.bytes.subspan(row * row_bytes, row_bytes);
    rows.append(bytes.begin(), bytes.end());
  }
  const std::string format{8, static_cast<char>(pixels.channels == 3 ? 2 : 0), 0, 0, 0};  // bits, color type, defaults
  const auto header = big_endian(static_cast<std::uint32_t>(pixels.width)) +
                      big_endian(static_cast<std::uint32_t>(pixels.height)) + format;
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", deflated(rows)) + chunk("IEND", "");
}

}  // namespace heatpp::nn::detail
