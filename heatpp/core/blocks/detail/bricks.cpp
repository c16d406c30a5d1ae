#include <heatpp/core/blocks/detail/bricks.hpp>

#include <heatpp/comm/detail/failure.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/boxes.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace heatpp::detail {
namespace {

/// Returns the part of a piece in the block that `rank` holds.
Piece within(Piece piece, const Layout& layout, int rank) {
  auto both = common({std::move(piece.first), std::move(piece.count)}, box_of(layout, rank));
  return {piece.brick, std::move(both.first), std::move(both.count)};
}

bool overlap(const Boxes& boxes, std::size_t a, std::size_t b) {
  for (std::size_t axis = 0; axis < boxes.ndim(); ++axis)
    if (boxes.end(a, axis) <= boxes.begin(b, axis) || boxes.end(b, axis) <= boxes.begin(a, axis)) return false;
  return true;
}

std::string text_of(const Boxes& boxes, std::size_t i) {
  const auto box = boxes.whole(i);
  return formatted("{} at {} of rank {}", to_string(box.count), to_string(box.first), boxes.rank(i));
}

Boxes sorted(std::size_t ndim, const Parcels& parcels) {
  std::vector<std::size_t> order(parcels.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(parcels.record(i)[1], parcels.record(i)[2]); });
  std::vector<std::int64_t> numbers;
  numbers.reserve(parcels.numbers.size());
  for (const auto i : order) {
    const auto record = parcels.record(i);
    numbers.insert(numbers.end(), record.begin(), record.end());
  }
  return Boxes(ndim, std::move(numbers));
}

}  // namespace

void Boxes::add(int to, int rank, std::size_t brick, const Shape& offset, const Shape& shape) {
  auto& numbers = parcels_.numbers;
  numbers.insert(numbers.end(), {to, rank, static_cast<std::int64_t>(brick)});
  for (const auto* part : {&offset, &shape}) numbers.insert(numbers.end(), part->begin(), part->end());
}

Piece Boxes::whole(std::size_t i) const {
  const auto record = parcels_.record(i);
  const auto offset = record.begin() + 3, shape = offset + static_cast<std::ptrdiff_t>(ndim_);
  return {static_cast<std::size_t>(record[2]), Shape(offset, shape), Shape(shape, record.end())};
}

Boxes boxes_to_owners(const std::vector<Brick>& mine, int rank, const Layout& layout) {
  Boxes boxes(layout.shape().size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    for_each_owner(layout, {mine[i].offset, mine[i].shape}, [&](int to) {
      if (size_of(layout.local_shape(to)) > 0) boxes.add(to, rank, i, mine[i].offset, mine[i].shape);
    });
  }
  return boxes;
}

Boxes boxes_at_owner(const std::vector<Brick>& mine, const Layout& layout, const Communicator& comm) {
  if (layout.is_cut())
    return sorted(layout.shape().size(), delivered(boxes_to_owners(mine, comm.rank(), layout).parcels(), comm));
  Boxes boxes(layout.shape().size());
  for (std::size_t i = 0; i < mine.size(); ++i)
    if (size_of(mine[i].shape) > 0) boxes.add(0, comm.rank(), i, mine[i].offset, mine[i].shape);
  return Boxes(boxes.ndim(), gathered(boxes.parcels(), comm).numbers);
}

void check_disjoint(const char* op, const Boxes& boxes, const Layout& layout) {
  if (boxes.ndim() == 0 && boxes.count() > 1)
    raise<ValueError>(op, "got {} bricks of an array without axes; expected one", boxes.count());
  if (boxes.ndim() == 0) return;
  // In the order of one axis, each brick can overlap only bricks that begin before it ends. All that are here meet
  // along the split, so another axis keeps them apart better.
  const std::size_t axis = !layout.is_grid() && layout.split() == 0 && boxes.ndim() > 1 ? 1 : 0;
  std::vector<std::size_t> order(boxes.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return boxes.begin(i, axis); });
  for (auto a = order.begin(); a != order.end(); ++a)
    for (auto b = a + 1; b != order.end() && boxes.begin(*b, axis) < boxes.end(*a, axis); ++b)
      if (overlap(boxes, *a, *b))
        raise<ValueError>(op, "got bricks {} and {}, which overlap; expected each cell in one brick",
                          text_of(boxes, *a), text_of(boxes, *b));
}

void check_cover(const char* op, const std::vector<Brick>& mine, const Boxes& boxes, const Layout& layout,
                 const Communicator& comm) {
  const auto failure = failure_of([&] { check_disjoint(op, boxes, layout); });
  std::uint64_t cells = 0;  // wraps only if bricks overlap
  for (const auto& brick : mine) cells += static_cast<std::uint64_t>(size_of(brick.shape));
  std::array<std::int64_t, 2> sums{failure ? 1 : 0, static_cast<std::int64_t>(cells)};
  comm.allreduce(sums);
  if (sums[0] > 0) comm.agree(failure);
  const auto& shape = layout.shape();
  if (sums[1] != size_of(shape))
    raise<ValueError>(op, "got bricks of {} cells in all; expected the {} of shape {}", sums[1], size_of(shape),
                      to_string(shape));
}

std::vector<PeerPieces> pieces_of_bricks(const std::vector<Brick>& mine, const Layout& layout) {
  std::map<int, std::vector<Piece>> found;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    for_each_owner(layout, {mine[i].offset, mine[i].shape}, [&](int rank) {
      auto piece = within({i, mine[i].offset, mine[i].shape}, layout, rank);
      if (size_of(piece.count) > 0) found[rank].push_back(std::move(piece));
    });
  }
  std::vector<PeerPieces> peers;
  for (auto& [rank, pieces] : found) peers.push_back({rank, std::move(pieces)});
  return peers;
}

std::vector<PeerPieces> pieces_of_block(const Boxes& boxes, const Layout& layout, int rank) {
  std::vector<PeerPieces> peers;
  for (std::size_t i = 0; i < boxes.count(); ++i) {
    if (peers.empty() || peers.back().rank != boxes.rank(i)) peers.push_back({boxes.rank(i), {}});
    peers.back().pieces.push_back(within(boxes.whole(i), layout, rank));
  }
  return peers;
}

}  // namespace heatpp::detail
