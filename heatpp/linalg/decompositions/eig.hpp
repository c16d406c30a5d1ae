#pragma once

#include <heatpp/linalg/decompositions/eigh.hpp>

namespace heatpp::linalg {

/// Computes eigenvalues and normalized eigenvectors (the columns of `vectors`) of any square matrices (..., n, n), in
/// LAPACK's order, always complex, in the dtype of `eigh`. Every rank decomposes on its own: stacks that are cut along
/// leading axes stay in place, other stacks are recut first, and a cut matrix is brought to every rank, which also gets
/// the result. Collective. Throws ValueError unless matrices are square and elements finite.
[[nodiscard]] Eigen eig(const DNDarray& x);
/// Computes only the eigenvalues.
[[nodiscard]] DNDarray eigvals(const DNDarray& x);

}  // namespace heatpp::linalg
