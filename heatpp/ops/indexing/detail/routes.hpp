#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/operands/detail/align.hpp>

namespace heatpp::detail {

/// Who has to hand rows to whom when every rank asks for rows of a split array by their positions. A row is named by
/// its key: its place among the rows of the rank that holds it, in C order over the indexed axes.
struct Routes {
  at::Tensor order;                  ///< this rank's requests (in C order) grouped by the rank that holds the row
  std::vector<std::int64_t> mine;    ///< how many rows this rank asks of each
  at::Tensor keys;                   ///< rows asked of this rank, grouped by the rank that asks
  std::vector<std::int64_t> theirs;  ///< how many rows each rank asks of this one
};

/// `positions` are blocks of int64, one for each indexed axis of `x`, all expanded to the local shape of `cut`; the
/// axes rise and the split axis of `x` is among them. If every rank passes all positions in `everywhere`, nothing is
/// communicated; otherwise the counts and the keys are.
[[nodiscard]] Routes route(const DNDarray& x, std::span<const int> axes, std::span<const at::Tensor> positions,
                           const Layout& cut, std::span<const at::Tensor> everywhere);

/// The positions along each of the axes that the keys of this rank's rows stand for.
[[nodiscard]] std::vector<at::Tensor> positions_of_keys(const DNDarray& x, std::span<const int> axes, at::Tensor keys);

}  // namespace heatpp::detail
