#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/calculus/detail/ghost_lists.hpp>

namespace heatpp::detail {

/// Fetches rows of other ranks and sends rows of this one: one message between any two ranks that hold and need some.
/// Ranks compute who needs what of them, so no rank asks.
class Ghosts {
 public:
  /// Starts to fetch wanted(rank) of `axis` of x. Rows outside get `fill`. `takers` are the ranks that may want rows of
  /// this one. Collective if `axis` is the split.
  Ghosts(const DNDarray& x, int axis, const Wanted& wanted, std::vector<RankRange> takers, const Scalar& fill);
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
