#pragma once

#include <heatpp/core/detail/relayout.hpp>

namespace heatpp::detail {

/// Returns `x`. If several ranks of a grid hold each block, it is recut as one_cut does, for sums over all ranks.
[[nodiscard]] inline DNDarray without_copies(const char* op, const DNDarray& x) {
  const bool copies = x.layout().is_grid() && x.layout().grid_cut().copies() > 1;
  return copies ? one_cut(op, x) : x;
}

}  // namespace heatpp::detail
