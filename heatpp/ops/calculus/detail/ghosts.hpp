#pragma once

#include <functional>
#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Returns the indices of an axis that a rank needs, in their order; those outside 0 .. extent - 1 have no element.
using Wanted = std::function<std::vector<std::int64_t>(int rank)>;

/// Fetches rows of other ranks and sends rows of this one: one message between any two ranks that hold and need some.
/// Every rank computes who needs what, so no rank asks.
class Ghosts {
 public:
  /// Starts to fetch wanted(rank) of `axis` of x. Rows outside get `fill`. Collective if `axis` is the split.
  Ghosts(const DNDarray& x, int axis, const Wanted& wanted, const Scalar& fill);
  /// Returns the wanted rows, with their axis first. Waits for them.
  [[nodiscard]] const at::Tensor& rows();

 private:
  struct Arriving {
    at::Tensor rows, places;
    Request request;
  };
  at::Tensor rows_;
  std::vector<Arriving> arriving_;
  std::vector<at::Tensor> leaving_;
  std::vector<Request> sends_;
};

}  // namespace heatpp::detail
