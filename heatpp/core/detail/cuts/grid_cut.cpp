#include <heatpp/core/detail/cuts/grid_cut.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <functional>

namespace heatpp::detail {
namespace {

/// Returns the rank of each cell.
std::vector<int> inverse_of(const std::vector<int>& cells, int ranks) {
  std::vector<int> inverse(static_cast<std::size_t>(ranks), -1);
  bool fits = std::ssize(cells) == ranks;
  for (int rank = 0; fits && rank < ranks; ++rank) {
    const auto cell = cells[static_cast<std::size_t>(rank)];
    fits = cell >= 0 && cell < ranks && inverse[static_cast<std::size_t>(cell)] < 0;
    if (fits) inverse[static_cast<std::size_t>(cell)] = rank;
  }
  if (!fits)
    raise<ValueError>("Layout", "got cells {} of a grid of {} ranks; expected each cell once", tuple_text(cells),
                      ranks);
  return inverse;
}

}  // namespace

GridCut::GridCut(std::vector<Cut> cuts, std::vector<int> cells)
    : cuts_(std::move(cuts)), strides_(cuts_.size(), 1), cells_(std::move(cells)) {
  for (auto axis = cuts_.size(); axis-- > 0;) {
    if (cuts_[axis].ranks() > 1) strides_[axis] = ranks_;
    ranks_ *= cuts_[axis].ranks();
  }
  if (cells_.empty()) return;
  ranks_of_cells_ = inverse_of(cells_, ranks_);
  // Equal grids have equal members.
  if (std::ranges::is_sorted(cells_)) cells_.clear(), ranks_of_cells_.clear();
}

int GridCut::copy_of(int rank) const {
  int copy = 0;
  for (const auto& [stride, ranks] : left_out_) copy = copy * ranks + cell_of(rank) / stride % ranks;
  return copy;
}

int GridCut::rank_at(std::span<const int> coordinates, int copy) const {
  int cell = 0;
  for (std::size_t axis = 0; axis < cuts_.size(); ++axis) cell += coordinates[axis] * strides_[axis];
  for (auto dimension = left_out_.rbegin(); dimension != left_out_.rend(); ++dimension) {
    cell += copy % dimension->ranks * dimension->stride;
    copy /= dimension->ranks;
  }
  return ranks_of_cells_.empty() ? cell : ranks_of_cells_[static_cast<std::size_t>(cell)];
}

bool GridCut::alike(int rank, int other) const {
  for (std::size_t axis = 0; axis < cuts_.size(); ++axis)
    if (coordinate(rank, axis) != coordinate(other, axis)) return false;
  return true;
}

std::optional<int> GridCut::split() const {
  const auto all = std::ranges::find(cuts_, ranks_, &Cut::ranks);
  if (ranks_ == 1 || all == cuts_.end() || !cells_.empty()) return std::nullopt;
  return static_cast<int>(all - cuts_.begin());
}

GridCut GridCut::recut(std::vector<Cut> cuts) const {
  auto grid = *this;
  grid.cuts_ = std::move(cuts);
  return grid;
}

GridCut GridCut::along(const Shape& shape, std::span<const int> axes) const {
  auto grid = *this;
  grid.cuts_.clear();
  grid.strides_.clear();
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const bool kept = axes[axis] >= 0;
    const auto from = static_cast<std::size_t>(kept ? axes[axis] : 0);
    grid.cuts_.push_back(kept ? cuts_[from] : Cut::even(shape[axis], 1));
    grid.strides_.push_back(kept ? strides_[from] : 1);
  }
  for (std::size_t axis = 0; axis < cuts_.size(); ++axis)
    if (cuts_[axis].ranks() > 1 && std::ranges::find(axes, static_cast<int>(axis)) == axes.end()) {
      grid.left_out_.push_back({strides_[axis], cuts_[axis].ranks()});
      grid.copies_ *= cuts_[axis].ranks();
    }
  std::ranges::sort(grid.left_out_, std::ranges::greater(), &Dimension::stride);
  return grid;
}

}  // namespace heatpp::detail
