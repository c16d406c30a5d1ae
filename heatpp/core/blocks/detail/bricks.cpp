#include <heatpp/core/blocks/detail/bricks.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::detail {
namespace {

/// A brick with its rank.
struct Owned {
  int rank;
  const Brick* brick;
  [[nodiscard]] std::int64_t begin(std::size_t axis) const { return brick->offset[axis]; }
  [[nodiscard]] std::int64_t end(std::size_t axis) const { return brick->offset[axis] + brick->shape[axis]; }
};

bool overlap(const Owned& a, const Owned& b, std::size_t ndim) {
  for (std::size_t axis = 0; axis < ndim; ++axis)
    if (a.end(axis) <= b.begin(axis) || b.end(axis) <= a.begin(axis)) return false;
  return true;
}

std::string text_of(const Owned& owned) {
  return formatted("{} at {} of rank {}", to_string(owned.brick->shape), to_string(owned.brick->offset), owned.rank);
}

}  // namespace

std::vector<std::vector<Brick>> bricks_of_all(const std::vector<Brick>& mine, int ndim, const Communicator& comm) {
  const auto axes = static_cast<std::size_t>(ndim);
  auto counts = comm.allgather(std::ssize(mine));
  std::vector<std::vector<Brick>> all;
  for (const auto count : counts) all.emplace_back(static_cast<std::size_t>(count), Brick{Shape(axes), Shape(axes)});
  std::vector<std::int64_t> numbers;
  for (const auto& brick : mine)
    for (const auto* part : {&brick.offset, &brick.shape}) numbers.insert(numbers.end(), part->begin(), part->end());
  for (auto& count : counts) count *= 2 * ndim;
  std::vector<std::int64_t> everything(
      static_cast<std::size_t>(std::reduce(counts.begin(), counts.end(), std::int64_t{0})));
  comm.allgather(numbers, everything, counts);
  auto next = everything.begin();
  for (auto& bricks : all)
    for (auto& brick : bricks)
      for (auto* part : {&brick.offset, &brick.shape})
        for (auto& number : *part) number = *next++;
  return all;
}

void check_cover(const char* op, const std::vector<std::vector<Brick>>& bricks, const Shape& shape) {
  std::vector<Owned> all;
  std::int64_t cells = 0;
  for (std::size_t rank = 0; rank < bricks.size(); ++rank)
    for (const auto& brick : bricks[rank]) {
      const auto size = size_of(brick.shape);
      if (size > 0) all.push_back({static_cast<int>(rank), &brick});
      cells += size;
    }
  if (shape.empty() && all.size() > 1)
    raise<ValueError>(op, "got {} bricks of an array without axes; expected one", all.size());
  // In the order of the first axis, each brick can overlap only bricks that begin before it ends.
  std::ranges::sort(all, {}, [&](const Owned& owned) { return shape.empty() ? 0 : owned.begin(0); });
  for (auto a = all.begin(); a != all.end(); ++a)
    for (auto b = a + 1; b != all.end() && b->begin(0) < a->end(0); ++b)
      if (overlap(*a, *b, shape.size()))
        raise<ValueError>(op, "got bricks {} and {}, which overlap; expected each cell in one brick", text_of(*a),
                          text_of(*b));
  if (cells != size_of(shape))
    raise<ValueError>(op, "got bricks of {} cells in all; expected the {} of shape {}", cells, size_of(shape),
                      to_string(shape));
}

std::vector<Piece> pieces_in(const std::vector<Brick>& bricks, const Layout& layout, int rank) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < bricks.size(); ++i) {
    Piece piece{i, bricks[i].offset, bricks[i].shape};
    if (layout.split()) {
      const auto axis = static_cast<std::size_t>(*layout.split());
      const auto end = std::min(piece.first[axis] + piece.count[axis], layout.offset(rank + 1));
      piece.first[axis] = std::max(piece.first[axis], layout.offset(rank));
      piece.count[axis] = std::max<std::int64_t>(0, end - piece.first[axis]);
    }
    if (size_of(piece.count) > 0) pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace heatpp::detail
