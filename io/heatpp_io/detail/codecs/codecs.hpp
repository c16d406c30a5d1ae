#pragma once

#include <heatpp_io/compression.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace heatpp::io::detail {

using Block = std::span<const std::byte>;

/// The functions of a codec for a block that is in memory as a whole. Several threads may call them at the same time.
struct BlockCodec {
  /// Fills `out` exactly. Returns false for damaged blocks and blocks of another size.
  bool (*decompress)(Block stored, std::span<std::byte> out);
  /// Returns nothing if the block is larger than the codec allows, or if an allocation fails.
  std::optional<std::vector<std::byte>> (*compress)(Block block, int level, int itemsize);
  /// Returns the decompressed size that the block states; nullptr for gzip, which does not state it.
  std::optional<std::size_t> (*size)(Block stored);
};

extern const BlockCodec gzip_blocks, zstd_blocks, blosc_blocks;
extern const BlockCodec gzip_file_blocks;         ///< in a gzip file's header and checksum instead of zlib's
extern const BlockCodec lz4_blocks;               ///< after their size in 4 bytes, as numcodecs
extern const BlockCodec lz4_blocks_of_hdf5;       ///< one or more blocks, with sizes before each and before all
extern const BlockCodec bz2_blocks, lzma_blocks;  ///< only Zarr has them; lzma: the formats .xz and .lzma

/// Returns nullptr if heatpp was built without the codec's library.
[[nodiscard]] const BlockCodec* block_codec(Codec codec);
/// Returns the codec that numcodecs names "zlib", "gzip", "zstd", "lz4", "blosc", "bz2" or "lzma".
[[nodiscard]] const BlockCodec* block_codec(std::string_view name);

[[nodiscard]] std::string_view name_of(Codec codec);
/// Returns the compression of the library that is nearest to a codec with this name in HDF5 or Zarr: the same codec, at
/// this level if it has it, else gzip.
[[nodiscard]] Compression nearest_compression(std::string_view name, int level);
/// Return a compression as a number that can be sent, and the compression of such a number.
[[nodiscard]] std::int64_t code_of(const std::optional<Compression>& compression);
[[nodiscard]] std::optional<Compression> compression_from(std::int64_t code);
/// Returns the way to get a codec: "libzstd-dev (Debian), and heatpp built with it".
[[nodiscard]] std::string how_to_get(Codec codec);
/// Throws ValueError for wrong levels and for codecs that this build does not have.
void check_compression(const std::optional<Compression>& compression, const char* op);
/// Returns the level of gzip, for formats that have no other codec. Throws ValueError for other codecs.
[[nodiscard]] std::optional<int> gzip_level(const std::optional<Compression>& compression, const char* op);

}  // namespace heatpp::io::detail
