#pragma once

#include <heatpp/linalg/solvers/solve.hpp>

namespace heatpp::detail {

/// The columns of a block of matrices that are dealt over a grid of ranks.
inline constexpr std::int64_t dealt_width = 128;

/// Whether a matrix lies on a grid of ranks, each with a block of its own.
[[nodiscard]] bool is_on_grid(const DNDarray& x);

/// Returns the conjugate transpose of a matrix on a grid, on the transposed grid. Local.
[[nodiscard]] DNDarray adjoint_on_grid(const DNDarray& x);

/// Computes the lower factor of Cholesky of a matrix on a grid, under its layout: a panel at a time, whose rows are
/// broadcast along the rows of the grid and gathered along its columns. A rank sends about n^2 / p + n^2 / q elements
/// on p x q ranks. Throws LinAlgError on all ranks. Collective.
[[nodiscard]] DNDarray cholesky_on_grid(const DNDarray& a, std::int64_t width = dealt_width);

/// Solves a triangular system with the matrix `a` on a grid; `b` is a matrix of any layout, which the result has.
/// Collective.
[[nodiscard]] DNDarray solve_triangular_on_grid(const DNDarray& a, const DNDarray& b,
                                                const linalg::TriangularOptions& options,
                                                std::int64_t width = dealt_width);

}  // namespace heatpp::detail
