#pragma once

#include <heatpp/core/detail/cuts/cut.hpp>
#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Returns the rows at `positions` (int64 on the CPU, in range) of an array whose rows are cut by `cut`; `block` has
/// this rank's. Three passes over the positions count them, sort them by owner, and put the answers into their order.
/// A rank's own rows are in no message. Sends what `told` sends, then 4 bytes for each position of another rank, 8 if
/// there are more than 2^31 rows, and the row back. Takes memory for each rank. Collective.
[[nodiscard]] at::Tensor fetched(const at::Tensor& block, const at::Tensor& positions, const Cut& cut,
                                 const Communicator& comm);

}  // namespace heatpp::detail
