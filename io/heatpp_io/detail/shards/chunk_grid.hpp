#pragma once

#include <functional>
#include <heatpp_io/detail/elements/selection.hpp>

namespace heatpp::io::detail {

/// The part of a box that lies in one chunk.
struct ChunkPart {
  Shape place;      ///< of the chunk in the grid
  Selection box;    ///< in the chunk
  Selection where;  ///< in the box, with steps of 1
};

/// Calls `use` for every chunk that `box` touches, in C order.
void each_chunk(const Selection& box, const Shape& chunks, const std::function<void(const ChunkPart&)>& use);

}  // namespace heatpp::io::detail
