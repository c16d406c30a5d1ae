#pragma once

#include <functional>
#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Indices of an axis that a rank needs, in the order in which it wants them; outside of 0 .. extent - 1: nothing.
using Wanted = std::function<std::vector<std::int64_t>(int rank)>;

/// Rows of other ranks on their way to this one, and of this one to others: one message between any two ranks that
/// hold and want some. Every rank works out who wants what, so nobody asks.
class Ghosts {
 public:
  /// Starts to fetch wanted(rank) of `axis` of x. Rows outside are set to `fill`. Collective if `axis` is the split.
  Ghosts(const DNDarray& x, int axis, const Wanted& wanted, const Scalar& fill);
  /// The rows wanted, with their axis first. Waits for them.
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
