#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse::detail {

/// Returns for each of this rank's vertices the lowest vertex of its strongly connected component, int64. Collective:
/// communicates as connected_components.
[[nodiscard]] at::Tensor least_of_strong_components(const DCSRMatrix& a);

}  // namespace heatpp::sparse::detail
