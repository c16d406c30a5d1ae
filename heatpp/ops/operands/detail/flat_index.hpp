#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// Returns the index in the flattened array of this rank's elements.
class FlatIndex {
 public:
  explicit FlatIndex(const DNDarray& x) {
    const auto split = x.split().value_or(0);
    for (int axis = split; axis < x.ndim(); ++axis) {
      slab_ *= x.lshape()[static_cast<std::size_t>(axis)];
      whole_slab_ *= x.shape()[static_cast<std::size_t>(axis)];
    }
    if (x.split() && x.size() > 0)
      first_ = x.layout().offset(x.comm().rank()) * (whole_slab_ / x.shape()[static_cast<std::size_t>(split)]);
  }
  [[nodiscard]] std::int64_t of(std::int64_t i) const { return first_ + i / slab_ * whole_slab_ + i % slab_; }

 private:
  std::int64_t slab_ = 1, whole_slab_ = 1, first_ = 0;
};

}  // namespace heatpp::detail
