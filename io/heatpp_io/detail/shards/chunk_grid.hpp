#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <heatpp_io/detail/elements/selection.hpp>
#include <limits>

namespace heatpp::io::detail {

/// Consecutive chunks with the same extent along an axis.
struct ChunkRun {
  std::int64_t place = 0;  ///< place of the first chunk in the grid
  std::int64_t begin = 0;  ///< first index in the first chunk
  std::int64_t extent = 1;
  std::int64_t count = std::numeric_limits<std::int64_t>::max();

  friend bool operator==(const ChunkRun&, const ChunkRun&) = default;
};
/// How the axes of an array are cut into chunks: for each axis runs of chunks, in order.
using ChunkGrid = std::vector<std::vector<ChunkRun>>;

/// Returns a grid whose chunks all have the same extents.
[[nodiscard]] ChunkGrid regular_grid(const Shape& chunks);

/// The intersection of a box and one chunk.
struct ChunkBox {
  Shape place;      ///< place of the chunk in the grid
  Shape extents;    ///< extents of the chunk
  Selection box;    ///< the part in the chunk
  Selection where;  ///< the part in the box, with steps of 1
};

/// Returns the elements of a tensor that a selection contains. The selection must not be empty.
[[nodiscard]] at::Tensor part_of(at::Tensor elements, const Selection& selection);

/// Calls `use` for every chunk that `box` touches, in C order.
void each_chunk(const Selection& box, const ChunkGrid& grid, const std::function<void(const ChunkBox&)>& use);
void each_chunk(const Selection& box, const Shape& chunks, const std::function<void(const ChunkBox&)>& use);

}  // namespace heatpp::io::detail
