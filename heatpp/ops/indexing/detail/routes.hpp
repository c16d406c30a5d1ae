#pragma once

#include <heatpp/core/detail/route.hpp>
#include <heatpp/ops/operands/detail/align.hpp>

namespace heatpp::detail {

/// What every rank asks of the others when it wants rows of a split array by their positions.
struct Requests {
  Route route;      ///< of this rank's requests, in C order
  at::Tensor keys;  ///< the rows asked of this rank: their places among its rows, in C order over the indexed axes
};

/// `positions` are blocks of int64, one for each indexed axis of `x`, all expanded to the local shape of `cut`; the
/// axes rise and the split axis of `x` is among them. If every rank passes all positions in `everywhere`, nothing is
/// communicated; otherwise the counts and the keys are.
[[nodiscard]] Requests requests(const DNDarray& x, std::span<const int> axes, std::span<const at::Tensor> positions,
                                const Layout& cut, std::span<const at::Tensor> everywhere);

/// The positions along each of the axes that the keys of this rank's rows stand for.
[[nodiscard]] std::vector<at::Tensor> positions_of_keys(const DNDarray& x, std::span<const int> axes, at::Tensor keys);

}  // namespace heatpp::detail
