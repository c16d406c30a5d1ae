#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// Returns the index in the flattened array of this rank's elements.
class FlatIndex {
 public:
  explicit FlatIndex(const DNDarray& x) {
    const auto extents = x.lshape(), first = x.layout().local_offset(x.comm().rank());
    std::int64_t stride = 1;
    for (std::size_t axis = extents.size(); axis-- > 0; stride *= x.shape()[axis]) {
      first_ += first[axis] * stride;
      // An axis of which the rank holds all that are behind it is one with them.
      if (!axes_.empty() && axes_.back().extent * axes_.back().stride == stride) axes_.back().extent *= extents[axis];
      else axes_.push_back({extents[axis], stride});
    }
  }
  [[nodiscard]] std::int64_t of(std::int64_t i) const {
    auto flat = first_;
    for (const auto& [extent, stride] : axes_) {
      flat += i % extent * stride;
      i /= extent;
    }
    return flat;
  }

 private:
  /// An axis of the block, the last one first.
  struct Axis {
    std::int64_t extent, stride;
  };
  std::vector<Axis> axes_;
  std::int64_t first_ = 0;
};

}  // namespace heatpp::detail
