#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heatpp::io {

/// A compression of HDF5 and Zarr chunks. Every program that reads the formats reads gzip. zstd is several times as
/// fast and, after HDF5's shuffle, smaller; lz4 is even faster. blosc is LZ4 on blocks in which a shuffle has grouped
/// the first, second, ... bytes of all numbers.
enum class Codec : std::uint8_t { gzip, zstd, lz4, blosc };

/// A codec and its level. A number is a gzip level (0 to 9). A text names a codec, with or without a level: "zstd",
/// "zstd:9" (1 to 22), "lz4" (no levels), "blosc:5" (0 to 9). Throws ValueError for other names.
struct Compression {
  Compression(int gzip_level) : codec(Codec::gzip), level(gzip_level) {}         // NOLINT(google-explicit-constructor)
  Compression(std::string_view text);                                            // NOLINT(google-explicit-constructor)
  Compression(const char* text) : Compression(std::string_view(text)) {}         // NOLINT(google-explicit-constructor)
  Compression(const std::string& text) : Compression(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)

  Codec codec;
  int level;
  /// Whether the first, second, ... bytes of all numbers are grouped before: HDF5's and netCDF's shuffle. Zarr has it
  /// in blosc only. nullopt: in HDF5 for zstd and lz4, else not.
  std::optional<bool> shuffle = std::nullopt;

  friend bool operator==(const Compression&, const Compression&) = default;
};

/// Returns the text of a compression: "zstd:9", or "4" for gzip.
[[nodiscard]] std::string to_string(const Compression& compression);

}  // namespace heatpp::io
