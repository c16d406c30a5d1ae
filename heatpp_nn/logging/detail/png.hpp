#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace heatpp::nn::detail {

/// Pixels, row by row, of one byte (grey) or three bytes (red, green, blue).
struct Pixels {
  std::span<const std::uint8_t> bytes;
  int width, height, channels;
};
/// Returns a picture in PNG format (ISO/IEC 15948).
[[nodiscard]] std::string png(const Pixels& pixels);

}  // namespace heatpp::nn::detail
