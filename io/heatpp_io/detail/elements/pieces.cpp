#include <heatpp_io/detail/elements/pieces.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

namespace heatpp::io::detail {
namespace {

std::int64_t product(Shape::const_iterator first, Shape::const_iterator last) {
  return std::accumulate(first, last, std::int64_t{1}, std::multiplies<>());
}

/// Returns the first axis whose single positions are small enough; earlier axes are cut into single positions.
std::size_t cut_axis(const Shape& box, std::int64_t limit, const CutAt& cuts) {
  if (cuts.unit > 1) return 0;
  std::size_t axis = 0;
  while (axis + 1 < box.size() && product(box.begin() + static_cast<std::ptrdiff_t>(axis) + 1, box.end()) > limit)
    ++axis;
  return axis;
}

/// Returns the end of a piece that begins at `first` and should have `rows` positions.
std::int64_t piece_end(std::int64_t first, std::int64_t rows, std::int64_t extent, const CutAt& cuts) {
  const auto units = std::max<std::int64_t>(1, rows / cuts.unit);
  const auto end = ((first + cuts.phase) / cuts.unit + units) * cuts.unit - cuts.phase;
  return std::min(end, extent);
}

}  // namespace

std::vector<Piece> plan_pieces(const Shape& box, std::int64_t limit, const CutAt& cuts) {
  const auto size = size_of(box);
  if (size == 0) return {};
  if (box.empty()) return {{.first = {}, .count = {}, .offset = 0, .size = 1}};
  const auto axis = cut_axis(box, limit, cuts);
  const auto inner = product(box.begin() + static_cast<std::ptrdiff_t>(axis) + 1, box.end());
  const auto rows = std::max<std::int64_t>(1, limit / inner);

  std::vector<Piece> pieces;
  Piece piece{Shape(box.size(), 0), box, 0, 0};
  std::fill_n(piece.count.begin(), axis, 1);
  for (std::int64_t offset = 0; offset < size; offset += piece.size) {
    auto outer = offset / inner / box[axis];
    for (auto i = axis; i-- > 0; outer /= box[i]) piece.first[i] = outer % box[i];
    piece.first[axis] = offset / inner % box[axis];
    piece.count[axis] = piece_end(piece.first[axis], rows, box[axis], axis == 0 ? cuts : CutAt{}) - piece.first[axis];
    piece.offset = offset;
    piece.size = piece.count[axis] * inner;
    pieces.push_back(piece);
  }
  return pieces;
}

}  // namespace heatpp::io::detail
