#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Does relayout if one of the layouts is of a grid, and the other one any. From replicated: a view. Otherwise each
/// rank sends what its block has in common with the blocks of others under `target`, in one exchange.
[[nodiscard]] at::Tensor relayout_boxes(const DNDarray& x, const Layout& target);

}  // namespace heatpp::detail
