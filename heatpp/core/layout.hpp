#pragma once

#include <heatpp/core/detail/cuts/grid_cut.hpp>
#include <heatpp/core/grid.hpp>
#include <heatpp/core/shape.hpp>
#include <span>

namespace heatpp {

/// Where the elements of an array lie: its global shape, the axis along which it is cut (or none: every rank holds all
/// of it), and the range of every rank along that axis. Blocks lie in rank order; they may be uneven or empty. It is a
/// value type, and every rank holds an equal one, so no rank has to ask where something is. An even cut needs the same
/// few bytes for any number of ranks; copies of an uneven one share its offsets.
///
/// An array may also be cut along several axes, over a grid of ranks (`on_grid`), and several ranks may hold the same
/// block (`along`). It has no one split axis then: split() and the functions that tell of one cut throw ValueError, and
/// grid(), cut_along() and place_along() tell where its blocks lie. Copies share the cuts.
class Layout {
 public:
  /// Cuts evenly along `split`: n / ranks each, and one more on the first n % ranks ranks. Throws IndexError.
  Layout(Shape shape, std::optional<int> split, int ranks);
  /// Cuts at the given `offsets`: rank r holds offsets[r] to before offsets[r + 1]. Throws ValueError unless they rise
  /// from 0 to the extent.
  Layout(Shape shape, int split, std::vector<std::int64_t> offsets);
  /// Cuts where `cut` says. Throws ValueError unless it is of the extent along `split`, which is not negative.
  Layout(Shape shape, int split, const detail::Cut& cut)
      : shape_(std::move(shape)), split_(split), ranks_(cut.ranks()), cut_(cut) {
    if (shape_[static_cast<std::size_t>(split)] != cut.extent()) refuse_extent();
  }

  /// Cuts so that rank r holds counts[r] indices along `split`; the extent there becomes their sum.
  [[nodiscard]] static Layout from_counts(Shape shape, int split, std::span<const std::int64_t> counts);

  /// Cuts evenly over a grid of ranks. If it cuts one axis or none, this is the layout with that split. Throws as
  /// Grid::along_axes.
  [[nodiscard]] static Layout on_grid(Shape shape, const Grid& grid, int ranks);
  /// Cuts each axis at its cut, whose ranks are those of the grid along it; an axis that is not cut has an even cut
  /// over one rank. `cells` has the cell of each rank, in C order of the grid; empty: rank r has cell r. Throws
  /// ValueError unless there is a cut of the extent for each axis, and each cell is of one rank.
  [[nodiscard]] static Layout from_cuts(Shape shape, std::vector<detail::Cut> cuts, std::vector<int> cells = {});

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] int ndim() const { return static_cast<int>(shape_.size()); }
  [[nodiscard]] std::int64_t size() const;
  /// Returns the axis of the one cut, or nullopt. Throws ValueError on a grid.
  [[nodiscard]] std::optional<int> split() const {
    if (grid_) refuse_grid();
    return split_;
  }
  [[nodiscard]] int ranks() const { return ranks_; }
  /// Whether it is cut over a grid of ranks, and split() throws.
  [[nodiscard]] bool is_grid() const { return grid_ != nullptr; }
  /// Whether any axis is cut.
  [[nodiscard]] bool is_cut() const { return split_ || grid_; }
  /// Returns the ranks along each axis: 1 along those that are not cut.
  [[nodiscard]] std::vector<int> grid() const;
  /// Returns the cut of any axis: over one rank if the axis is not cut.
  [[nodiscard]] detail::Cut cut_along(int axis) const;
  /// Returns which part of cut_along(axis) `rank` holds.
  [[nodiscard]] int place_along(int axis, int rank) const;
  /// Returns the cuts of a grid. Only on a grid.
  [[nodiscard]] const detail::GridCut& grid_cut() const { return *grid_; }

  /// Returns the first index on `rank` along the split axis; offset(ranks()) is the extent. Only for split arrays.
  [[nodiscard]] std::int64_t offset(int rank) const { return cut().first(rank); }
  /// Returns how many indices along the split axis `rank` holds. Only for split arrays.
  [[nodiscard]] std::int64_t count(int rank) const { return cut().extent(rank); }
  /// Makes the list of all offsets, ranks() + 1 numbers; none if not split. To ask for one rank, use offset().
  [[nodiscard]] std::vector<std::int64_t> offsets() const;
  /// Returns the rank that holds `index` along the split axis. Only for split arrays.
  [[nodiscard]] int owner(std::int64_t index) const { return cut().owner(index); }
  /// Returns the cut along the split axis. Only for split arrays.
  [[nodiscard]] const detail::Cut& cut() const {
    if (grid_) refuse_grid();
    return cut_;
  }

  [[nodiscard]] Shape local_shape(int rank) const;
  /// Returns the first index of the block of `rank` along each axis.
  [[nodiscard]] Shape local_offset(int rank) const;
  /// Whether every cut is the even one.
  [[nodiscard]] bool is_balanced() const;
  /// Returns the layout with even cuts along the same axes, over the same grid.
  [[nodiscard]] Layout balanced() const;

  /// Returns this cut for another shape along `split`, which must have the same extent; nullopt: uncut. Throws
  /// ValueError on a grid.
  [[nodiscard]] Layout with(Shape shape, std::optional<int> split) const;
  /// Returns the layout over the same grid of ranks with these cuts of all axes, of the same ranks each.
  [[nodiscard]] Layout recut(Shape shape, std::vector<detail::Cut> cuts) const;
  /// Returns the cuts of this layout for other axes: axis i of `shape` is cut as axis axes[i] here, of the same extent,
  /// or not at all if axes[i] is -1. Ranks that differ only along cut axes that are left out hold the same elements.
  [[nodiscard]] Layout along(Shape shape, std::span<const int> axes) const;
  /// Returns the layout of an uncut array of another shape over the same ranks.
  [[nodiscard]] Layout replicated(Shape shape) const { return {std::move(shape), std::nullopt, ranks_}; }

  friend bool operator==(const Layout& a, const Layout& b);
  friend bool same_cut(const Layout& a, const Layout& b);

 private:
  static Layout from_grid(Shape shape, detail::GridCut grid);
  [[noreturn]] void refuse_extent() const;
  [[noreturn]] void refuse_grid() const;

  Shape shape_;
  std::optional<int> split_;
  int ranks_;
  detail::Cut cut_;                                        // of no index if not split
  std::shared_ptr<const detail::GridCut> grid_ = nullptr;  // only on a grid, without a split then
};

/// Whether two layouts cut along the same axes at the same places.
[[nodiscard]] bool same_cut(const Layout& a, const Layout& b);

/// Returns "split 0", "split none" or "grid (2, 2)".
[[nodiscard]] std::string cut_text(const Layout& layout);

}  // namespace heatpp
