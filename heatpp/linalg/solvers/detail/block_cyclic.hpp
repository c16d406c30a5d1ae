#pragma once

#include <heatpp/core/blocks/detail/parts.hpp>
#include <heatpp/core/detail/cuts/boxes.hpp>
#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// A matrix in square blocks. Along each axis they belong to the ranks of a grid in turns, so that all ranks have work
/// until the last blocks. A rank holds the rows of its blocks behind one another, and the columns likewise.
class BlockCyclic {
 public:
  /// Deals the blocks of `x`, which has any layout, in an exchange. `grid` is the layout of a matrix that is cut over a
  /// grid without copies. Collective.
  BlockCyclic(const DNDarray& x, const Layout& grid, std::int64_t width);
  /// Returns the matrix under a layout. Collective: an exchange.
  [[nodiscard]] DNDarray array(const Layout& target) const;

  [[nodiscard]] at::Tensor& local() { return local_; }
  /// Returns the ranks with the same rows of blocks (axis 0), or with the same columns, in the order of their blocks.
  [[nodiscard]] const Communicator& ranks_with_same(int axis) const { return axis == 0 ? in_row_ : in_column_; }
  /// Returns how many ranks share the blocks along an axis.
  [[nodiscard]] int ranks(int axis) const { return axis == 0 ? in_column_.size() : in_row_.size(); }
  /// Whether this rank holds blocks of that number along the axis.
  [[nodiscard]] bool owns(int axis, std::int64_t number) const { return number % ranks(axis) == place(axis); }
  [[nodiscard]] std::int64_t blocks(int axis) const { return (extent(axis) + width_ - 1) / width_; }
  [[nodiscard]] std::int64_t extent_of_block(int axis, std::int64_t number) const {
    return std::min(width_, extent(axis) - number * width_);
  }
  /// Returns how many indices of this rank along the axis lie before a block.
  [[nodiscard]] std::int64_t before(int axis, std::int64_t number) const;
  /// Calls f(number, before(axis, number), extent_of_block(axis, number)) for this rank's blocks from `first` on.
  template <class F>
  void for_each_block(int axis, std::int64_t first, F f) const {
    const auto behind = (first - place(axis) + ranks(axis) - 1) / ranks(axis) * ranks(axis);
    for (auto number = behind + place(axis); number < blocks(axis); number += ranks(axis))
      f(number, before(axis, number), extent_of_block(axis, number));
  }

 private:
  [[nodiscard]] std::int64_t extent(int axis) const { return shape_[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] int place(int axis) const { return axis == 0 ? in_column_.rank() : in_row_.rank(); }
  [[nodiscard]] Box box(std::int64_t row, std::int64_t column) const;
  [[nodiscard]] at::Tensor part(std::int64_t row, std::int64_t column, const Box& box) const;
  /// Return the parts of this rank's blocks, or of its block under a layout, that other ranks hold under the other one.
  [[nodiscard]] Parts parts_of_blocks(const Layout& other, bool from_other) const;
  [[nodiscard]] Parts parts_of(const at::Tensor& block, const Layout& layout, bool from_it) const;

  Layout grid_;
  Communicator comm_, in_row_, in_column_;
  std::int64_t width_;
  Shape shape_;
  at::Tensor local_;
  at::Device device_;
};

/// Broadcasts a matrix of a shape from `owner`; on other ranks `value` is not used.
[[nodiscard]] at::Tensor shared_matrix(const Communicator& group, const at::Tensor& value, at::IntArrayRef shape,
                                       const at::TensorOptions& options, std::int64_t owner);

}  // namespace heatpp::detail
