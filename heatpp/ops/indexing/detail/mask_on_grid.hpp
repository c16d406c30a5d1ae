#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// Returns the elements of `x`, which is on a grid without copies, where a mask is true, in C order: those of rank r
/// are from its rows under an even cut along axis 0. `flags` is the mask's part for this rank's block. Collective: two
/// exchanges of the kept elements that change their rank, and of 8 bytes for each of their rows in a block.
[[nodiscard]] DNDarray take_mask_on_grid(const DNDarray& x, const at::Tensor& flags);

}  // namespace heatpp::detail
