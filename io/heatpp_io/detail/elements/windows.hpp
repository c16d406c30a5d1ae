#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/core/layout.hpp>
#include <heatpp_io/detail/elements/pieces.hpp>
#include <vector>

namespace heatpp {
class Communicator;
}

namespace heatpp::io::detail {

/// A cut of one axis of an array into windows that are handled one after the other, of which every rank holds a part
/// in whole units: the ranks' parts lie in rank order in a window.
class Windows {
 public:
  /// `cuts` says where units begin; a part holds as many of them as fit into `part_bytes`, but at least one.
  struct Plan {
    int axis;
    CutAt cuts;
    std::int64_t part_bytes;
  };
  Windows(const Layout& layout, std::int64_t itemsize, const Plan& plan);

  struct Part {
    std::int64_t first, count;
  };
  [[nodiscard]] int axis() const { return axis_; }
  [[nodiscard]] std::int64_t count() const { return windows_; }
  [[nodiscard]] Part part(std::int64_t window, int rank) const;
  /// The extents of a part.
  [[nodiscard]] Shape shape(const Part& part) const;
  /// Elements of the largest part.
  [[nodiscard]] std::int64_t part_size() const;

 private:
  [[nodiscard]] std::int64_t unit_begin(std::int64_t unit) const;

  Shape shape_;
  int axis_, ranks_;
  CutAt cuts_;
  std::int64_t units_per_part_ = 1, windows_ = 0;
};

/// Moves one window between the ranks' parts of it (`part`, contiguous) and their blocks under `layout`, which is split
/// along another axis. Collective: one exchange.
void scatter_window(const Windows& windows, std::int64_t window, const at::Tensor& part, const at::Tensor& block,
                    const Layout& layout, const Communicator& comm);
void gather_window(const Windows& windows, std::int64_t window, const at::Tensor& block, const at::Tensor& part,
                   const Layout& layout, const Communicator& comm);

/// How large parts may be beside a block of `block_bytes`.
[[nodiscard]] std::int64_t staging_budget(std::int64_t block_bytes);

}  // namespace heatpp::io::detail
