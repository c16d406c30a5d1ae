#pragma once

#include <functional>
#include <heatpp/core/factories.hpp>

// Matrices with known properties. Random numbers come from the default generator and do not depend on the number of
// ranks except for rounding. All functions are collective, and throw ValueError for extents below 1.
namespace heatpp::datasets {

/// Returns the matrix 1 / (j - i + 1/2), whose singular values lie close to pi (Parter, 1986), in the default dtype
/// unless the options name one. Local.
[[nodiscard]] DNDarray parter(std::int64_t n, const ArrayOptions& options = {});

struct HermitianOptions {
  bool positive_definite = false;  ///< R R^H / n instead of R + R^H
  ArrayOptions array = {};         ///< complex64 by default; a real dtype gives a symmetric matrix
};
/// Returns a Hermitian matrix made of a normal matrix R. Communicates as a transpose, or a product.
[[nodiscard]] DNDarray hermitian(std::int64_t n, const HermitianOptions& options = {});

/// Returns an m x n matrix with orthonormal columns, uniformly distributed (Haar; Mezzadri, 2007), by qr of a normal
/// matrix. Communicates as qr. Throws ValueError for n > m.
[[nodiscard]] DNDarray random_orthogonal(std::int64_t m, std::int64_t n, const ArrayOptions& options = {});

/// A matrix a = u diag(s) v^H, and its three factors.
struct KnownSvd {
  DNDarray a, u, s, v;
};
/// Returns an m x n matrix with the singular values in the vector `s`, at most min(m, n). `u` is split along axis 0 if
/// the rows of a are cut; `s` and `v` are not split. Throws ValueError for other lengths and negative values.
[[nodiscard]] KnownSvd random_known_singularvalues(std::int64_t m, std::int64_t n, const DNDarray& s,
                                                   const ArrayOptions& options = {});
struct KnownRankOptions {
  /// Maps uniform numbers to singular values; nullptr: -log.
  std::function<DNDarray(const DNDarray&)> quantile_function = nullptr;
  ArrayOptions array = {};
};
/// Returns an m x n matrix of rank r; the quantile function gives its singular values, in decreasing order.
[[nodiscard]] KnownSvd random_known_rank(std::int64_t m, std::int64_t n, std::int64_t r,
                                         const KnownRankOptions& options = {});

}  // namespace heatpp::datasets
