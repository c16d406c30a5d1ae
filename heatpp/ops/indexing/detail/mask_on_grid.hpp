#pragma once

#include <heatpp/core/detail/cuts/boxes.hpp>
#include <heatpp/core/dndarray.hpp>

#include <ATen/core/Tensor.h>

namespace heatpp::detail {

/// How the elements that a mask keeps travel between the blocks of an array on a grid and the result. The ranks whose
/// blocks differ only along the masked axes, which are neighbors, form a group. If only the first masked axis is cut,
/// each keeps its elements. Otherwise the kept elements of equally many rows of that axis go to each rank of the group.
/// It learns how many there are in each segment: elements of a block that follow one another in C order of the masked
/// axes.
class MaskRoutes {
 public:
  /// Finds the routes for a mask from `axis` on, of which this rank has the part for its block. Each element of `x` is
  /// on one rank. Collective: 8 bytes for each segment, and the counts of all ranks.
  MaskRoutes(const DNDarray& x, int axis, const at::Tensor& flags);

  /// Returns the layout of the kept elements, in one axis instead of the masked ones.
  [[nodiscard]] const Layout& layout() const { return layout_; }
  /// Returns this rank's part of the result; `block` is that of the array. Collective.
  [[nodiscard]] at::Tensor taken(const at::Tensor& block) const;
  /// Returns the places of the kept elements of this rank's part, counted in C order of the masked axes. Collective.
  [[nodiscard]] at::Tensor places() const;
  /// Writes a result of taken back to the block. Collective.
  void put(const at::Tensor& block, const at::Tensor& elements) const;

 private:
  /// Makes the kept elements of the part of the block in a box of the masked axes: a row for each.
  using Keep = std::function<at::Tensor(const Box& box, const at::Tensor& wanted)>;

  void count();
  [[nodiscard]] at::Tensor wanted_in(const Box& box) const;
  [[nodiscard]] at::Tensor part_of(const at::Tensor& table, const Box& box, int holder) const;
  void each_taker(const std::function<void(int rank, const Box& box)>& f) const;
  void each_holder(const std::function<void(int rank, const Box& box)>& f) const;
  [[nodiscard]] at::Tensor brought(const Keep& keep, const at::Tensor& like) const;

  int axis_;
  at::Tensor flags_;
  Communicator comm_, group_;
  Layout grid_,
      rows_;         ///< of the mask over the group: of the blocks, and of the rows of each rank's part of the result
  Box mine_, here_;  ///< this rank's
  int last_ = 0;     ///< the last masked axis that is cut
  at::Tensor counts_, firsts_;  ///< of the segments in this rank's rows: the kept elements, and how many precede them
  std::int64_t total_ = 0;
  Layout layout_;
};

/// Returns how many segments a mask over all axes of an array on a grid has.
[[nodiscard]] std::int64_t mask_segments(const Layout& grid);

}  // namespace heatpp::detail
