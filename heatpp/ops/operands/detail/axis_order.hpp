#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <span>

namespace heatpp::detail {

/// An order in which a loop goes through the axes of a block, and its inverse. The usual order follows memory, which is
/// the fast one for a transposed block.
class AxisOrder {
 public:
  explicit AxisOrder(std::vector<std::int64_t> axes) : axes_(std::move(axes)) {}
  /// Returns the identity order.
  [[nodiscard]] static AxisOrder unchanged(std::int64_t axes);
  /// Returns the order from the largest stride to the smallest; the identity for a block in C order, or one stretched
  /// over a row of itself.
  [[nodiscard]] static AxisOrder in_memory(const at::Tensor& block);

  [[nodiscard]] const std::vector<std::int64_t>& axes() const { return axes_; }
  /// Returns the new place of an axis.
  [[nodiscard]] std::int64_t place_of(std::int64_t axis) const {
    return std::ranges::find(axes_, axis) - axes_.begin();
  }
  [[nodiscard]] std::vector<std::int64_t> places_of(at::IntArrayRef axes) const;

  [[nodiscard]] at::Tensor permuted(const at::Tensor& block) const {
    return std::ranges::is_sorted(axes_) ? block : block.permute(axes_);
  }
  [[nodiscard]] at::Tensor restored(const at::Tensor& block) const;
  /// Reorders values for a permuted block of these extents, in C order, to the original order of axes.
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

/// Does at::cat of blocks in the memory order of the largest one, which the result then has.
[[nodiscard]] at::Tensor concatenated(const std::vector<at::Tensor>& blocks, std::int64_t axis);

}  // namespace heatpp::detail
