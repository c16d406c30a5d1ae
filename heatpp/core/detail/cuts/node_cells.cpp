#include <heatpp/core/detail/cuts/node_cells.hpp>

#include <heatpp/comm/detail/state.hpp>

#include <limits>
#include <numeric>

namespace heatpp {
namespace {

using Counts = std::vector<int>;

/// Whether consecutive ranks, `in_node` at a time, are boxes of a grid in C order.
bool are_boxes(const Counts& grid, int in_node) {
  for (auto along = grid.rbegin(); along != grid.rend(); ++along) {
    if (in_node % *along != 0) return *along % in_node == 0;
    in_node /= *along;
  }
  return true;
}

/// Looks through the boxes of `in_node` cells that divide a grid.
struct BoxSearch {
  const Shape& shape;
  const Counts& grid;
  Counts box = Counts(grid.size(), 1), best = {};
  double least = std::numeric_limits<double>::infinity();

  /// Returns the elements at the sides of the box towards other boxes, as a part of all its elements.
  [[nodiscard]] double sides() const {
    double part = 0;
    for (std::size_t axis = 0; axis < grid.size(); ++axis)
      if (box[axis] < grid[axis])
        part +=
            static_cast<double>(grid[axis]) / box[axis] / static_cast<double>(std::max<std::int64_t>(1, shape[axis]));
    return part;
  }

  void visit(std::size_t axis, int rest) {
    if (axis == grid.size()) {
      if (rest == 1 && sides() < least) least = sides(), best = box;
      return;
    }
    const auto most = std::gcd(grid[axis], rest);
    for (int cells = most; cells >= 1; --cells) {
      if (most % cells != 0) continue;
      box[axis] = cells;
      visit(axis + 1, rest / cells);
    }
  }
};

/// Returns the cell at which rank `rank` is, if box after box is filled.
int cell_in_boxes(int rank, const Counts& grid, const Counts& box, int in_node) {
  int node = rank / in_node, inside = rank % in_node, cell = 0, stride = 1;
  for (auto axis = grid.size(); axis-- > 0;) {
    const auto boxes = grid[axis] / box[axis];
    cell += stride * (node % boxes * box[axis] + inside % box[axis]);
    node /= boxes, inside /= box[axis], stride *= grid[axis];
  }
  return cell;
}

}  // namespace

int detail::ranks_in_node(const Communicator& comm) {
  const auto topology = topology_of(comm);
  const auto& machine = topology.state();
  const auto size = machine.largest_node;
  if (machine.nodes == 1) return comm.size();
  if (machine.nodes * size != static_cast<std::size_t>(comm.size())) return 1;
  std::size_t first = 0;
  for (const auto& run : nodes_at(machine.tree, machine.node_level).runs()) {
    if (run.count > 1 && run.stride != static_cast<int>(size)) return 1;
    for (std::size_t i = 0; i < size; ++i)
      if (run.first.rank_at(i) != static_cast<int>(first + i)) return 1;
    first += run.count * size;
  }
  return static_cast<int>(size);
}

std::vector<int> detail::cells_by_node(const Shape& shape, const std::vector<int>& grid, int in_node) {
  if (are_boxes(grid, in_node)) return {};
  BoxSearch search{shape, grid};
  search.visit(0, in_node);
  if (search.best.empty()) return {};
  std::vector<int> cells(static_cast<std::size_t>(std::accumulate(grid.begin(), grid.end(), 1, std::multiplies())));
  for (std::size_t rank = 0; rank < cells.size(); ++rank)
    cells[rank] = cell_in_boxes(static_cast<int>(rank), grid, search.best, in_node);
  return cells;
}

Layout detail::layout_on_grid(const Shape& shape, const Grid& grid, const Communicator& comm) {
  auto layout = Layout::on_grid(shape, grid, comm.size());
  if (!grid.balanced || !layout.is_grid()) return layout;
  auto cells = cells_by_node(shape, layout.grid(), ranks_in_node(comm));
  if (cells.empty()) return layout;
  return Layout::from_cuts(shape, layout.grid_cut().cuts(), std::move(cells));
}

}  // namespace heatpp
