#pragma once

#include <heatpp/linalg/decompositions/detail/columns.hpp>

namespace heatpp::detail {

/// Gauss's elimination with interchanges of rows, panel by panel: leaves U in the upper triangle of `a`, and in `right`
/// what L makes of it. Returns the sign of the interchanges. Collective.
int eliminate(Columns& a, Columns* right);

/// This rank's part of the diagonal of U.
[[nodiscard]] at::Tensor upper_diagonal(const Columns& a);

}  // namespace heatpp::detail
