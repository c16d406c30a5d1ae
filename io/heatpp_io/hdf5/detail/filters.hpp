#pragma once

#include <heatpp_io/compression.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>

namespace heatpp::io::detail {

/// Has chunks that are made with `properties` compressed; their elements take `itemsize` bytes. gzip is HDF5's own;
/// zstd and lz4 are the registered filters 32015 and 32004, behind HDF5's shuffle, blosc is 32001.
void set_compression(const Handle& properties, const Compression& compression, int itemsize);

/// Makes HDF5 read and write the codecs that heatpp was built with, where it has no plugin for them.
void register_filters();

/// What is to be undone to chunks of these properties, where it is one of heatpp's codecs, perhaps behind shuffle.
struct ChunkFilters {
  const BlockCodec* codec = nullptr;
  bool shuffled = false;
};
[[nodiscard]] std::optional<ChunkFilters> known_filters(const Handle& properties);

/// The filters of these properties that HDF5 does not have, and what would bring each; nothing where it has all.
[[nodiscard]] std::optional<std::string> missing_filter(const Handle& properties);

}  // namespace heatpp::io::detail
