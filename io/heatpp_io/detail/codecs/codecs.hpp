#pragma once

#include <heatpp_io/compression.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace heatpp::io::detail {

using Block = std::span<const std::byte>;

/// What a codec does with a block that lies in memory as a whole. Threads may call these at the same time.
struct BlockCodec {
  /// Fills `out` exactly; false for blocks that hold something else, and for damaged ones.
  bool (*decompress)(Block stored, std::span<std::byte> out);
  /// Nothing where the block is larger than the codec has it, or memory is short.
  std::optional<std::vector<std::byte>> (*compress)(Block block, int level, int itemsize);
  /// How many bytes the block says that it gives; nullptr for gzip, which does not say.
  std::optional<std::size_t> (*size)(Block stored);
};

extern const BlockCodec gzip_blocks, zstd_blocks, blosc_blocks;
extern const BlockCodec gzip_file_blocks;         ///< with the header and sum of a gzip file in place of zlib's
extern const BlockCodec lz4_blocks;               ///< behind their size in 4 bytes, as numcodecs has them
extern const BlockCodec lz4_blocks_of_hdf5;       ///< one or more, with sizes before each and before all
extern const BlockCodec bz2_blocks, lzma_blocks;  ///< only of Zarr; lzma: the formats .xz and .lzma

/// nullptr where heatpp was built without the codec's library.
[[nodiscard]] const BlockCodec* block_codec(Codec codec);
/// The codec that numcodecs calls so: "zlib", "gzip", "zstd", "lz4", "blosc", "bz2" or "lzma".
[[nodiscard]] const BlockCodec* block_codec(std::string_view name);

[[nodiscard]] std::string_view name_of(Codec codec);
/// "libzstd-dev (Debian), and heatpp built with it"
[[nodiscard]] std::string how_to_get(Codec codec);
/// Throws ValueError for levels and codecs that are not there.
void check_compression(const std::optional<Compression>& compression, const char* op);
/// Of formats that have no other codec: throws ValueError for those.
[[nodiscard]] std::optional<int> gzip_level(const std::optional<Compression>& compression, const char* op);

}  // namespace heatpp::io::detail
