#pragma once

#include <heatpp/linalg/decompositions/detail/columns.hpp>

namespace heatpp::detail {

/// Does Gauss's elimination with row interchanges, panel by panel: leaves U in the upper triangle of `a`, and applies
/// the elimination to `right`. Returns the sign of the interchanges. Collective.
int eliminate(Columns& a, Columns* right);

/// Returns this rank's part of the diagonal of U.
[[nodiscard]] at::Tensor upper_diagonal(const Columns& a);

}  // namespace heatpp::detail
