#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/core/layout.hpp>
#include <heatpp_io/detail/elements/pieces.hpp>
#include <vector>

namespace heatpp {
class Communicator;
}

namespace heatpp::io::detail {

/// Cuts one axis of an array into windows, which are processed one after another. In each window every rank holds a
/// part of whole units; the parts are in rank order.
class Windows {
 public:
  /// `cuts` gives the places where units begin. A part holds as many units as fit in `part_bytes`, at least one.
  struct Options {
    int axis;
    CutAt cuts;
    std::int64_t part_bytes;
  };
  Windows(const Layout& layout, std::int64_t itemsize, const Options& options);

  struct Part {
    std::int64_t first, count;
  };
  [[nodiscard]] int axis() const { return axis_; }
  [[nodiscard]] std::int64_t count() const { return windows_; }
  [[nodiscard]] Part part(std::int64_t window, int rank) const;
  /// Returns the extents of a part.
  [[nodiscard]] Shape shape(const Part& part) const;
  /// Returns the number of elements of the largest part.
  [[nodiscard]] std::int64_t part_size() const;

 private:
  [[nodiscard]] std::int64_t unit_begin(std::int64_t unit) const;

  Shape shape_;
  int axis_, ranks_;
  CutAt cuts_;
  std::int64_t units_per_part_ = 1, windows_ = 0;
};

/// Moves one window between the ranks' parts (`part`, contiguous) and their blocks under `layout`, which is split along
/// another axis. Collective: one exchange.
void scatter_window(const Windows& windows, std::int64_t window, const at::Tensor& part, const at::Tensor& block,
                    const Layout& layout, const Communicator& comm);
void gather_window(const Windows& windows, std::int64_t window, const at::Tensor& block, const at::Tensor& part,
                   const Layout& layout, const Communicator& comm);

/// Returns the size that parts may have in addition to a block of `block_bytes`.
[[nodiscard]] std::int64_t staging_budget(std::int64_t block_bytes);

}  // namespace heatpp::io::detail
