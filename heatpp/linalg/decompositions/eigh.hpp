#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::linalg {

/// Eigenvalues, rising, and orthonormal eigenvectors, the columns of `vectors`.
struct Eigen {
  DNDarray values, vectors;
};
/// The triangle of a Hermitian matrix that is read.
enum class Triangle { lower, upper };
/// Decomposes Hermitian matrices (..., n, n). Whole numbers give inexact_type, 16-bit floats float32. Every rank
/// decomposes replicated matrices, and stacks that are cut along leading axes, on its own; other stacks are recut
/// first. A cut matrix is completed from its triangle (one exchange) and shifted until it is positive. Its columns are
/// made orthogonal as in `svd`, which gives the eigenvectors: values are replicated, vectors split 1. As in svd, few
/// ranks are faster on a replicated matrix. Collective. Throws ValueError unless matrices are square and elements of
/// the triangle finite.
[[nodiscard]] Eigen eigh(const DNDarray& x, Triangle uplo = Triangle::lower);
/// Computes only the eigenvalues.
[[nodiscard]] DNDarray eigvalsh(const DNDarray& x, Triangle uplo = Triangle::lower);

}  // namespace heatpp::linalg
