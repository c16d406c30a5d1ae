#pragma once

#include <heatpp/core/shape.hpp>
#include <vector>

namespace heatpp::io::detail {

/// A part of a box that is contiguous in memory: a range of positions along each axis.
struct Piece {
  Shape first;
  Shape count;
  std::int64_t offset = 0;  ///< number of elements of the box before it, in C order
  std::int64_t size = 0;
};

/// Where cuts along axis 0 may be: at unit - phase, 2 unit - phase, ... In datasets with chunks, no chunk is then read
/// for two pieces.
struct CutAt {
  std::int64_t unit = 1;
  std::int64_t phase = 0;
};

/// Cuts a box into pieces of at most `limit` elements, or of one unit if a unit is larger. A box without elements has
/// no pieces.
[[nodiscard]] std::vector<Piece> plan_pieces(const Shape& box, std::int64_t limit, const CutAt& cuts = {});

}  // namespace heatpp::io::detail
