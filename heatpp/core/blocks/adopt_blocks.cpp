#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/blocks/blocks.hpp>
#include <heatpp/core/blocks/detail/block_access.hpp>
#include <heatpp/core/detail/adopt.hpp>
#include <heatpp/core/detail/cuts/boxes.hpp>
#include <heatpp/core/detail/ownership.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp {
namespace {

using detail::Box;

/// Returns the bricks of all ranks.
std::vector<Box> bricks_of_all(const Brick& mine, const Communicator& comm) {
  const auto ndim = mine.offset.size();
  std::vector<std::int64_t> numbers(mine.offset.begin(), mine.offset.end());
  numbers.insert(numbers.end(), mine.shape.begin(), mine.shape.end());
  std::vector<std::int64_t> all(numbers.size() * static_cast<std::size_t>(comm.size()));
  comm.allgather(numbers, all, std::vector(static_cast<std::size_t>(comm.size()), std::ssize(numbers)));
  std::vector<Box> boxes;
  for (auto first = all.begin(); std::ssize(boxes) < comm.size(); first += std::ssize(numbers)) {
    const auto middle = first + static_cast<std::ptrdiff_t>(ndim);
    boxes.push_back({Shape(first, middle), Shape(middle, first + std::ssize(numbers))});
  }
  return boxes;
}

/// Returns where the bricks with elements begin along an axis, and the extent.
std::vector<std::int64_t> places_along(std::size_t axis, std::int64_t extent, const std::vector<Box>& boxes) {
  std::vector<std::int64_t> places{0};
  for (const auto& box : boxes)
    if (!box.empty()) places.push_back(box.first[axis]);
  std::ranges::sort(places);
  places.erase(std::ranges::unique(places).begin(), places.end());
  places.push_back(extent);
  return places;
}

/// Makes room for ranks without elements behind the last cells of the first axis that gives each rank a cell.
void add_empty_cells(std::vector<std::vector<std::int64_t>>& places, int ranks) {
  std::int64_t cells = 1;
  for (const auto& along : places) cells *= std::ssize(along) - 1;
  for (auto& along : places) {
    const auto others = cells / (std::ssize(along) - 1);
    if (cells >= ranks || ranks % others != 0) continue;
    along.resize(static_cast<std::size_t>(ranks / others) + 1, along.back());
    return;
  }
}

/// Returns the cell of a brick in the grid, or -1 if it is not just one cell.
int cell_of(const Box& box, const std::vector<detail::Cut>& cuts) {
  int cell = 0;
  for (std::size_t axis = 0; axis < cuts.size(); ++axis) {
    const auto place = cuts[axis].owner(box.first[axis]);
    if (cuts[axis].first(place) != box.first[axis] || cuts[axis].extent(place) != box.count[axis]) return -1;
    cell = cell * cuts[axis].ranks() + place;
  }
  return cell;
}

/// Returns the layout of bricks that cover the domain and do not overlap.
Layout layout_of_bricks(const Shape& shape, const std::vector<Box>& boxes) {
  const auto ranks = static_cast<int>(std::ssize(boxes));
  std::vector<std::vector<std::int64_t>> places;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) places.push_back(places_along(axis, shape[axis], boxes));
  add_empty_cells(places, ranks);
  std::vector<detail::Cut> cuts;
  for (auto& along : places) cuts.push_back(detail::Cut::at(std::move(along)));
  std::int64_t count = 1;
  for (const auto& cut : cuts) count *= cut.ranks();
  std::vector<int> cells(boxes.size(), -1);
  std::vector<bool> taken(static_cast<std::size_t>(count), false);
  bool fits = count == ranks;
  for (std::size_t rank = 0; fits && rank < boxes.size(); ++rank) {
    if (boxes[rank].empty()) continue;
    cells[rank] = cell_of(boxes[rank], cuts);
    fits = cells[rank] >= 0;
    if (fits) taken[static_cast<std::size_t>(cells[rank])] = true;
  }
  if (!fits)
    detail::raise<ValueError>(
        "adopt_blocks",
        "got bricks of shape {} that form no grid with a cell for each of {} ranks; expected one, "
        "or from_blocks, which takes any bricks and moves their elements",
        to_string(shape), ranks);
  auto free = taken.begin();
  for (auto& cell : cells) {
    if (cell >= 0) continue;
    free = std::find(free, taken.end(), false);
    *free = true;
    cell = static_cast<int>(free - taken.begin());
  }
  return Layout::from_cuts(shape, std::move(cuts), std::move(cells));
}

/// Adopts the inside of the tensors that make() returns, one on each rank.
DNDarray adopted(const BlockPlan& plan, const std::function<std::vector<at::Tensor>()>& make) {
  const auto& comm = plan.comm();
  at::Tensor block;
  all_or_none(comm, [&] {
    if (plan.bricks() != 1)
      detail::raise<ValueError>(
          "adopt_blocks",
          "got {} bricks of a rank; expected one, or from_blocks, which takes any number and moves "
          "their elements",
          plan.bricks());
    block = make().front();
    if (detail::may_overlap(block))
      detail::raise<ValueError>("adopt_blocks", "got a brick whose elements share memory; expected memory for each");
  });
  const auto layout =
      layout_of_bricks(plan.layout().shape(), bricks_of_all(detail::BlockAccess::bricks(plan).front(), comm));
  // A brick without elements may have other extents than its cell.
  if (block.numel() == 0) block = at::empty(layout.local_shape(comm.rank()), block.options());
  return detail::written_through(detail::wrap(detail::as_host_memory(block), layout, comm));
}

}  // namespace

DNDarray adopt_blocks(void* memory, const BlockPlan& plan) {
  return adopted(plan, [&] { return detail::BlockAccess::insides(plan, std::span<void* const>(&memory, 1)); });
}
DNDarray adopt_blocks(const at::Tensor& block, const BlockPlan& plan) {
  return adopted(plan, [&] { return detail::BlockAccess::insides(plan, std::span(&block, 1)); });
}

}  // namespace heatpp
