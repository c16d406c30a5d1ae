#pragma once

#include <heatpp_io/detail/elements/selection.hpp>
#include <heatpp_io/zarr/detail/bytes_codecs.hpp>
#include <heatpp_io/zarr/detail/filters.hpp>

#include <functional>
#include <memory>

namespace heatpp::io::detail {

struct Sharding;

/// What makes the bytes of a stored chunk of its elements, step by step.
struct ChunkCodecs {
  Shape order = {};                                    ///< the axes as they lie in the chunk; empty: in C order
  std::vector<Filter> filters = {};                    ///< on the elements in that order
  StoredType type = {};                                ///< of the elements that become bytes
  std::shared_ptr<const Sharding> sharding = nullptr;  ///< if the chunk is a shard: a file of smaller chunks
  std::vector<BytesCodec> bytes = {};
};

/// A shard's chunks, and the table that says where they lie.
struct Sharding {
  Shape chunks;        ///< extents of the chunks in the shard, in the order of its axes
  ChunkCodecs codecs;  ///< of each of these
  ChunkCodecs index;   ///< of the table
  bool index_first = false;
};

/// A chunk that is to be read.
struct StoredChunk {
  ByteReader& bytes;
  const ChunkCodecs& codecs;
  const Shape& shape;
  const std::function<void(const at::Tensor& out)>& fill;  ///< of what a shard does not have
  ChunkName name;
};

/// Reads `box` of a chunk into `out`, a tensor of its extents, converting as `astype` does. Of shards only the chunks
/// that the box touches are read. Throws IoError for damaged ones, ValueError for numbers that int64 cannot hold.
void read_chunk(const StoredChunk& chunk, Selection box, at::Tensor out);

/// The bytes of a chunk, a tensor of its extents in the memory type of the stored elements. Throws ValueError for
/// chunks that a codec has no room for, and for filters that round.
[[nodiscard]] std::vector<std::byte> encoded_chunk(const at::Tensor& elements, const ChunkCodecs& codecs,
                                                   const ChunkName& name);

/// The extents of what smallest parts can be read by themselves of chunks of this shape.
[[nodiscard]] Shape readable_part(const ChunkCodecs& codecs, const Shape& shape);

/// The positions of `values` in another order of the axes; an empty one leaves them.
template <class Values>
[[nodiscard]] Values reordered(const Values& values, const Shape& order) {
  auto result = values;
  for (std::size_t i = 0; i < order.size(); ++i) result[i] = values[static_cast<std::size_t>(order[i])];
  return result;
}

}  // namespace heatpp::io::detail
