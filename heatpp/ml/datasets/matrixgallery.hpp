#pragma once

#include <functional>
#include <heatpp/core/factories.hpp>

// Matrices of known properties. What is random comes from the default generator, the same on any number of ranks but
// for rounding. All are collective, and throw ValueError for extents below 1.
namespace heatpp::datasets {

/// The matrix 1 / (j - i + 1/2), whose singular values lie close to pi (Parter, 1986); of the default dtype unless
/// given. Local.
[[nodiscard]] DNDarray parter(std::int64_t n, const ArrayOptions& options = {});

struct HermitianOptions {
  bool positive_definite = false;  ///< R R^H / n instead of R + R^H
  ArrayOptions array = {};         ///< complex64 unless given; of a real dtype the matrix is symmetric
};
/// A Hermitian matrix of a normal one R. Communicates as a transpose, or a product.
[[nodiscard]] DNDarray hermitian(std::int64_t n, const HermitianOptions& options = {});

/// m x n with orthonormal columns, uniformly distributed (Haar; Mezzadri, 2007): the decomposition of a normal matrix,
/// which it communicates as. Throws ValueError for n > m.
[[nodiscard]] DNDarray random_orthogonal(std::int64_t m, std::int64_t n, const ArrayOptions& options = {});

/// A matrix a = u diag(s) v^H, and the three.
struct KnownSvd {
  DNDarray a, u, s, v;
};
/// m x n with the singular values of the vector `s`, at most min(m, n). `u` is split as a's rows, `s` and `v` are not.
/// Throws ValueError for other lengths and negative values.
[[nodiscard]] KnownSvd random_known_singularvalues(std::int64_t m, std::int64_t n, const DNDarray& s,
                                                   const ArrayOptions& options = {});
struct KnownRankOptions {
  /// Makes singular values of uniform numbers; nullptr: -log.
  std::function<DNDarray(const DNDarray&)> quantile_function = nullptr;
  ArrayOptions array = {};
};
/// m x n of rank r, with singular values that are drawn by their quantile function, the largest first.
[[nodiscard]] KnownSvd random_known_rank(std::int64_t m, std::int64_t n, std::int64_t r,
                                         const KnownRankOptions& options = {});

}  // namespace heatpp::datasets
