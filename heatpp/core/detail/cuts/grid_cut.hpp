#pragma once

#include <heatpp/core/detail/cuts/cut.hpp>
#include <heatpp/core/shape.hpp>

#include <optional>

namespace heatpp::detail {

/// Where several axes are cut. The ranks form a grid: a rank has a coordinate along each axis, and holds the indices of
/// that coordinate. The cells of the grid are numbered in C order. Rank r has cell r, so consecutive ranks are
/// neighbours along the last cut axis, unless a host has placed its ranks otherwise. A grid may have dimensions that
/// belong to no axis: the ranks along them are copies, which hold the same indices.
class GridCut {
 public:
  /// `cuts` has the cut of each axis: over one rank if the axis is not cut. `cells` has the cell of each rank; empty:
  /// rank r has cell r. Throws ValueError unless each cell is of one rank.
  explicit GridCut(std::vector<Cut> cuts, std::vector<int> cells = {});

  [[nodiscard]] const std::vector<Cut>& cuts() const { return cuts_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  /// Returns how many ranks hold each block.
  [[nodiscard]] int copies() const { return copies_; }
  /// Returns the coordinate of `rank` along `axis`.
  [[nodiscard]] int coordinate(int rank, std::size_t axis) const {
    return cell_of(rank) / strides_[axis] % cuts_[axis].ranks();
  }
  /// Returns which of the copies of its block `rank` holds.
  [[nodiscard]] int copy_of(int rank) const;
  /// Returns the rank at a coordinate along each axis that holds this copy.
  [[nodiscard]] int rank_at(std::span<const int> coordinates, int copy) const;
  /// Whether two ranks hold the same indices.
  [[nodiscard]] bool alike(int rank, int other) const;

  /// Whether no axis is cut.
  [[nodiscard]] bool is_uncut() const { return copies_ == ranks_; }
  /// Returns the one axis that is cut over all ranks in their order, if that is so.
  [[nodiscard]] std::optional<int> split() const;
  /// Returns the same grid, with the same ranks in its cells, of other cuts over as many ranks each.
  [[nodiscard]] GridCut recut(std::vector<Cut> cuts) const;
  /// Returns the grid with other axes: axis i is axis axes[i] of this one, or an uncut one of extent shape[i] if that
  /// is -1. The cut axes that are left out belong to no axis then.
  [[nodiscard]] GridCut along(const Shape& shape, std::span<const int> axes) const;

  friend bool operator==(const GridCut& a, const GridCut& b) {
    return a.cuts_ == b.cuts_ && a.strides_ == b.strides_ && a.cells_ == b.cells_ && a.left_out_ == b.left_out_;
  }

 private:
  /// A dimension of the grid that belongs to no axis.
  struct Dimension {
    int stride, ranks;
    friend bool operator==(const Dimension&, const Dimension&) = default;
  };
  [[nodiscard]] int cell_of(int rank) const { return cells_.empty() ? rank : cells_[static_cast<std::size_t>(rank)]; }

  std::vector<Cut> cuts_;
  std::vector<int> strides_;                 // cells from one coordinate to the next; 1 of axes that are not cut
  std::vector<Dimension> left_out_;          // falling strides
  std::vector<int> cells_, ranks_of_cells_;  // empty if rank r has cell r
  int ranks_ = 1, copies_ = 1;
};

}  // namespace heatpp::detail
