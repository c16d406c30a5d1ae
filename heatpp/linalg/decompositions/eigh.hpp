#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::linalg {

/// Eigenvalues, rising, and orthonormal eigenvectors, the columns of `vectors`.
struct Eigen {
  DNDarray values, vectors;
};
/// Which triangle of a Hermitian matrix is read.
enum class Triangle { lower, upper };
/// Of Hermitian matrices (..., n, n). Whole numbers give inexact_type, 16-bit floats float32. Replicated matrices, and
/// stacks that are cut along leading axes, are treated by every rank for itself; other stacks are recut first. A cut
/// matrix is completed from its triangle (one exchange), shifted until it is positive, and its columns are made
/// orthogonal as in `svd`, from which the eigenvectors follow: values are replicated, vectors split 1. As with svd, few
/// ranks are faster on a replicated matrix. Collective. Throws ValueError where matrices are not square, or elements of
/// the triangle not finite.
[[nodiscard]] Eigen eigh(const DNDarray& x, Triangle uplo = Triangle::lower);
/// The eigenvalues alone.
[[nodiscard]] DNDarray eigvalsh(const DNDarray& x, Triangle uplo = Triangle::lower);

}  // namespace heatpp::linalg
