#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <span>

namespace heatpp::detail {

/// An order of the axes of a block in which a loop is to go through it, and the way back. The usual one follows memory,
/// whatever the order of the axes: of a transposed block it is the fast one.
class AxisOrder {
 public:
  explicit AxisOrder(std::vector<std::int64_t> axes) : axes_(std::move(axes)) {}
  /// Of so many axes, as they are.
  [[nodiscard]] static AxisOrder unchanged(std::int64_t axes);
  /// From the largest stride to the smallest; as they are for a block in C order, or one stretched over a row of
  /// itself.
  [[nodiscard]] static AxisOrder in_memory(const at::Tensor& block);

  [[nodiscard]] const std::vector<std::int64_t>& axes() const { return axes_; }
  /// Where an axis has come to.
  [[nodiscard]] std::int64_t place_of(std::int64_t axis) const {
    return std::ranges::find(axes_, axis) - axes_.begin();
  }
  [[nodiscard]] std::vector<std::int64_t> places_of(at::IntArrayRef axes) const;

  [[nodiscard]] at::Tensor permuted(const at::Tensor& block) const {
    return std::ranges::is_sorted(axes_) ? block : block.permute(axes_);
  }
  [[nodiscard]] at::Tensor restored(const at::Tensor& block) const;
  /// Values for the elements of a permuted block of these extents, in C order, in that of the axes as they were.
  template <class T>
  [[nodiscard]] std::vector<T> restored(std::vector<T> values, at::IntArrayRef sizes) const {
    if (std::ranges::is_sorted(axes_)) return values;
    const at::Tensor places = restored(at::arange(std::ssize(values)).view(sizes)).contiguous();
    const std::span place(places.const_data_ptr<std::int64_t>(), values.size());
    std::vector<T> result;
    for (const auto from : place) result.push_back(std::move(values[static_cast<std::size_t>(from)]));
    return result;
  }

 private:
  std::vector<std::int64_t> axes_;
};

/// at::cat of blocks that have their memory in the order of the largest one, as the result then has.
[[nodiscard]] at::Tensor concatenated(const std::vector<at::Tensor>& blocks, std::int64_t axis);

}  // namespace heatpp::detail
