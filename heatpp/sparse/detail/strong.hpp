#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse::detail {

/// For each of this rank's vertices the least vertex of its strongly connected component, int64. Collective, as
/// connected_components says.
[[nodiscard]] at::Tensor least_of_strong_components(const DCSRMatrix& a);

}  // namespace heatpp::sparse::detail
