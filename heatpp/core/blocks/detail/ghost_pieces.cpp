#include <heatpp/core/blocks/detail/ghost_pieces.hpp>

#include <heatpp/comm/detail/failure.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/boxes.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

/// Whole numbers in the order in which GhostRecord reads them.
using RecordNumbers = std::vector<std::int64_t>;

void append_shape(RecordNumbers& numbers, const Shape& shape) {
  numbers.insert(numbers.end(), shape.begin(), shape.end());
}

/// Reads shapes one after another from a record of parcels.
class GhostRecord {
 public:
  GhostRecord(std::span<const std::int64_t> numbers, std::size_t first, std::size_t ndim)
      : rest_(numbers.subspan(first)), ndim_(ndim) {}
  Shape shape() {
    const auto part = rest_.first(ndim_);
    rest_ = rest_.subspan(ndim_);
    return {part.begin(), part.end()};
  }

 private:
  std::span<const std::int64_t> rest_;
  std::size_t ndim_;
};

/// Calls f(turns) for each way around the periodic axes: -1, 0 or 1 times along each.
void for_each_image(std::size_t ndim, std::uint64_t periodic, const std::function<void(const Shape&)>& f) {
  Shape turns(ndim, 0);
  const std::function<void(std::size_t)> visit = [&](std::size_t axis) {
    if (axis == ndim) return f(turns);
    const std::int64_t reach = periodic >> axis & 1U;
    for (auto turn = -reach; turn <= reach; ++turn) {
      turns[axis] = turn;
      visit(axis + 1);
    }
    turns[axis] = 0;
  };
  visit(0);
}

/// A brick with its ghost cells as an owner of blocks hears of it. The cells that it wants are those of the box, turned
/// around the domain.
struct GhostRequest {
  int taker;
  std::int64_t brick;
  Shape turns, offset, shape, before, behind;

  [[nodiscard]] Box cells(const Shape& domain) const {
    Box box{offset, shape};
    for (std::size_t axis = 0; axis < domain.size(); ++axis) {
      box.first[axis] += turns[axis] * domain[axis] - before[axis];
      box.count[axis] += before[axis] + behind[axis];
    }
    return common(box, {Shape(domain.size(), 0), domain});
  }
  void append_to(RecordNumbers& numbers, int owner) const {
    numbers.insert(numbers.end(), {owner, taker, brick});
    for (const auto* part : {&turns, &offset, &shape, &before, &behind}) append_shape(numbers, *part);
  }
};

GhostRequest request_of(std::span<const std::int64_t> numbers, std::size_t ndim) {
  GhostRecord record(numbers, 3, ndim);
  GhostRequest request{static_cast<int>(numbers[1]), numbers[2], {}, {}, {}, {}, {}};
  for (auto* part : {&request.turns, &request.offset, &request.shape, &request.before, &request.behind})
    *part = record.shape();
  return request;
}

bool has_cells(const Surroundings& ghosts) {
  const auto some = [](const Shape& cells) { return std::ranges::any_of(cells, [](auto count) { return count > 0; }); };
  return some(ghosts.before) || some(ghosts.behind);
}

/// Returns the requests of this rank's bricks, each for the owners of the blocks that they meet; for this rank if the
/// layout is not cut, because it knows all bricks then.
Parcels requests_of(const std::vector<GhostedBrick>& mine, const Layout& layout, std::uint64_t periodic, int me) {
  const auto ndim = layout.shape().size();
  Parcels parcels{3 + 5 * ndim, {}};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto& [brick, ghosts] = mine[i];
    if (size_of(brick.shape) == 0 || !has_cells(ghosts)) continue;
    for_each_image(ndim, periodic, [&](const Shape& turns) {
      const GhostRequest request{
          me, static_cast<std::int64_t>(i), turns, brick.offset, brick.shape, ghosts.before, ghosts.behind};
      const auto cells = request.cells(layout.shape());
      if (cells.empty()) return;
      if (!layout.is_cut()) return request.append_to(parcels.numbers, me);
      for_each_owner(layout, cells, [&](int owner) {
        if (!box_of(layout, owner).empty()) request.append_to(parcels.numbers, owner);
      });
    });
  }
  return parcels;
}

/// Throws if the ghost cells on a side, among them `cells`, are more than the extent of the brick that has these.
void check_widths(const char* op, const GhostRequest& request, const Box& cells, const Piece& giver,
                  const Shape& domain) {
  for (std::size_t axis = 0; axis < domain.size(); ++axis) {
    const auto first = cells.first[axis] - request.turns[axis] * domain[axis];
    const bool before = first + cells.count[axis] <= request.offset[axis];
    const bool behind = first >= request.offset[axis] + request.shape[axis];
    const auto width = before ? request.before[axis] : behind ? request.behind[axis] : 0;
    if (width > giver.count[axis])
      raise<ValueError>(op,
                        "got {} ghost cells {} axis {} of the brick of shape {} at {}, beside the brick of shape {} at "
                        "{}; expected at most {}, the extent of that brick, or larger bricks",
                        width, before ? "before" : "behind", axis, to_string(request.shape), to_string(request.offset),
                        to_string(giver.count), to_string(giver.first), giver.count[axis]);
  }
}

/// Adds what one brick gives to the ghost cells of a request, for both ranks.
void answer(const char* op, const GhostRequest& request, const Boxes& boxes, std::size_t i, const Layout& layout,
            int me, RecordNumbers& numbers) {
  const auto giver = boxes.whole(i);
  const bool same = request.taker == boxes.rank(i) && request.brick == static_cast<std::int64_t>(giver.brick);
  if (same && std::ranges::all_of(request.turns, [](auto turn) { return turn == 0; })) return;
  const auto cells = common(request.cells(layout.shape()), {giver.first, giver.count});
  if (cells.empty()) return;
  // The first owner of a block that both meet answers.
  if (layout.is_cut() && owner_at(layout, cells.first) != me) return;
  check_widths(op, request, cells, giver, layout.shape());
  for (const bool arrives : {false, true}) {
    const auto to = arrives ? request.taker : boxes.rank(i), other = arrives ? boxes.rank(i) : request.taker;
    numbers.insert(numbers.end(), {to, arrives, other, request.brick, static_cast<std::int64_t>(giver.brick)});
    for (const auto* part : {&request.turns, &cells.first, &cells.count}) append_shape(numbers, *part);
  }
}

/// Returns the answers to this rank as pieces for each rank. Both sides have the same order.
GhostPieces pieces_from(const Parcels& answers, const Shape& domain) {
  std::vector<std::span<const std::int64_t>> records;
  for (std::size_t i = 0; i < answers.count(); ++i) records.push_back(answers.record(i));
  std::ranges::sort(records, [](auto a, auto b) { return std::ranges::lexicographical_compare(a, b); });
  GhostPieces pieces;
  for (const auto& numbers : records) {
    const bool arrives = numbers[1] != 0;
    GhostRecord record(numbers, 5, domain.size());
    const auto turns = record.shape();
    Piece piece{static_cast<std::size_t>(numbers[arrives ? 3 : 4]), record.shape(), {}};
    piece.count = record.shape();
    for (std::size_t axis = 0; arrives && axis < domain.size(); ++axis) piece.first[axis] -= turns[axis] * domain[axis];
    auto& peers = arrives ? pieces.arriving : pieces.leaving;
    const auto other = static_cast<int>(numbers[2]);
    if (peers.empty() || peers.back().rank != other) peers.push_back({other, {}});
    peers.back().pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace

GhostPieces ghost_pieces(const char* op, const std::vector<GhostedBrick>& mine, const Boxes& boxes,
                         const Layout& layout, std::uint64_t periodic, const Communicator& comm) {
  const auto ndim = layout.shape().size();
  auto requests = requests_of(mine, layout, periodic, comm.rank());
  if (layout.is_cut()) requests = delivered(std::move(requests), comm);
  Parcels answers{5 + 3 * ndim, {}};
  comm.agree(failure_of([&] {
    for (std::size_t r = 0; r < requests.count(); ++r) {
      const auto request = request_of(requests.record(r), ndim);
      for (std::size_t i = 0; i < boxes.count(); ++i)
        answer(op, request, boxes, i, layout, comm.rank(), answers.numbers);
    }
  }));
  return pieces_from(delivered(std::move(answers), comm), layout.shape());
}

}  // namespace heatpp::detail
