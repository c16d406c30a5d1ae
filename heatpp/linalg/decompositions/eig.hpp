#pragma once

#include <heatpp/linalg/decompositions/eigh.hpp>

namespace heatpp::linalg {

/// Eigenvalues and normed eigenvectors (the columns of `vectors`) of any square matrices (..., n, n), in LAPACK's
/// order, always complex, in the dtype of `eigh`. Every rank decomposes for itself: stacks that are cut along leading
/// axes stay where they are, other stacks are recut first, and a cut matrix is brought to every rank, which has the
/// result as well. Collective. Throws ValueError where matrices are not square, or elements not finite.
[[nodiscard]] Eigen eig(const DNDarray& x);
/// The eigenvalues alone.
[[nodiscard]] DNDarray eigvals(const DNDarray& x);

}  // namespace heatpp::linalg
