#pragma once

#include <heatpp_io/compression.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>
#include <vector>

namespace heatpp::io::detail {

/// Sets the compression of chunks that are made with `properties`, with elements of `itemsize` bytes. gzip is HDF5's
/// own; zstd and lz4 are the registered filters 32015 and 32004, after HDF5's shuffle; blosc is 32001.
void set_compression(const Handle& properties, const Compression& compression, int itemsize);

/// Makes HDF5 read and write with the codecs of this build, even if it has no plugins for them.
void register_filters();

/// The filters to undo for chunks of these properties: one of heatpp's codecs, with or without shuffle.
struct ChunkFilters {
  const BlockCodec* codec = nullptr;
  bool shuffled = false;
};
[[nodiscard]] std::optional<ChunkFilters> known_filters(const Handle& properties);

/// A filter of HDF5, and its parameters.
struct AppliedFilter {
  H5Z_filter_t id;
  std::vector<unsigned> parameters;
};
/// Returns the filters of these properties, in the order in which they are applied.
[[nodiscard]] std::vector<AppliedFilter> applied_filters(const Handle& properties);
/// Returns the compression of the library that is nearest to these filters, with their shuffle. Returns nothing if none
/// of them compresses.
[[nodiscard]] std::optional<Compression> nearest_compression(const std::vector<AppliedFilter>& filters);

/// Returns those of the applied filters that HDF5 does not have, and how to get them; nothing if it has all.
[[nodiscard]] std::optional<std::string> missing_filter(const std::vector<AppliedFilter>& applied);

}  // namespace heatpp::io::detail
