#pragma once

#include <heatpp_io/detail/elements/selection.hpp>
#include <heatpp_io/zarr/detail/bytes_codecs.hpp>
#include <heatpp_io/zarr/detail/filters.hpp>

#include <functional>
#include <memory>

namespace heatpp::io::detail {

struct Sharding;

/// The steps from the elements of a chunk to its stored bytes.
struct ChunkCodecs {
  Shape order = {};                                    ///< order of the axes in the chunk; empty: C order
  std::vector<Filter> filters = {};                    ///< applied to the elements in that order
  StoredType type = {};                                ///< type of the elements that become bytes
  std::shared_ptr<const Sharding> sharding = nullptr;  ///< if the chunk is a shard: a file of smaller chunks
  std::vector<BytesCodec> bytes = {};
};

/// The chunks of a shard, and the table of their places.
struct Sharding {
  Shape chunks;        ///< extents of the chunks in the shard, in the order of its axes
  ChunkCodecs codecs;  ///< codecs of each of these chunks
  ChunkCodecs index;   ///< codecs of the table
  bool index_first = false;
};

/// A chunk that is read.
struct StoredChunk {
  ByteReader& bytes;
  const ChunkCodecs& codecs;
  const Shape& shape;
  const std::function<void(const at::Tensor& out)>& fill;  ///< fills what a shard does not have
  ChunkName name;
};

/// Reads `box` of a chunk into `out`, a tensor of its extents, and converts as `astype`. From a shard, reads only the
/// chunks that the box touches. Throws IoError for damaged ones, ValueError for numbers that int64 cannot hold.
void read_chunk(const StoredChunk& chunk, Selection box, at::Tensor out);

/// Returns the bytes of a chunk, given as a tensor of its extents in the memory type of the stored elements. Throws
/// ValueError for chunks that are too large for a codec, and for filters that round.
[[nodiscard]] std::vector<std::byte> encoded_chunk(const at::Tensor& elements, const ChunkCodecs& codecs,
                                                   const ChunkName& name);

/// Returns the extents of the smallest parts of a chunk of this shape that can be read separately.
[[nodiscard]] Shape readable_part(const ChunkCodecs& codecs, const Shape& shape);

/// Returns `values` in another order of the axes; an empty `order` keeps them.
template <class Values>
[[nodiscard]] Values reordered(const Values& values, const Shape& order) {
  auto result = values;
  for (std::size_t i = 0; i < order.size(); ++i) result[i] = values[static_cast<std::size_t>(order[i])];
  return result;
}

}  // namespace heatpp::io::detail
