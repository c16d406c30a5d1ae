#pragma once

#include <heatpp/core/detail/route.hpp>
#include <heatpp/ops/operands/detail/align.hpp>

namespace heatpp::detail {

/// The requests between ranks for rows of a split array, by their positions.
struct Requests {
  Route route;      ///< route of this rank's requests, in C order
  at::Tensor keys;  ///< the requested rows of this rank: their places among its rows, in C order over the indexed axes
};

/// Makes the requests. `positions` are blocks of int64, one for each indexed axis of `x`, all expanded to the local
/// shape of `cut`; the axes rise and include the split axis. If every rank passes all positions in `everywhere`,
/// nothing is communicated; otherwise the counts and the keys are.
[[nodiscard]] Requests requests(const DNDarray& x, std::span<const int> axes, std::span<const at::Tensor> positions,
                                const Layout& cut, std::span<const at::Tensor> everywhere);

/// Returns the positions along each axis for the keys of this rank's rows.
[[nodiscard]] std::vector<at::Tensor> positions_of_keys(const DNDarray& x, std::span<const int> axes, at::Tensor keys);

}  // namespace heatpp::detail
