#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heatpp::io {

/// What makes the chunks of HDF5 and Zarr smaller. gzip is read by every program that reads the format; zstd is
/// several times as fast and, behind HDF5's shuffle, smaller; lz4 is faster still. blosc is LZ4 on blocks whose bytes
/// were shuffled, so that those that are alike in neighbouring numbers lie together.
enum class Codec : std::uint8_t { gzip, zstd, lz4, blosc };

/// A codec and its level: a number is that of gzip (0 to 9), a text a codec's name and perhaps a level, as in "zstd",
/// "zstd:9" (1 to 22), "lz4" (which has none), "blosc:5" (0 to 9). Throws ValueError for other names.
struct Compression {
  Compression(int gzip_level) : codec(Codec::gzip), level(gzip_level) {}         // NOLINT(google-explicit-constructor)
  Compression(std::string_view text);                                            // NOLINT(google-explicit-constructor)
  Compression(const char* text) : Compression(std::string_view(text)) {}         // NOLINT(google-explicit-constructor)
  Compression(const std::string& text) : Compression(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)

  Codec codec;
  int level;

  friend bool operator==(const Compression&, const Compression&) = default;
};

/// "zstd:9", or "4" for gzip.
[[nodiscard]] std::string to_string(const Compression& compression);

}  // namespace heatpp::io
