#pragma once

#include <heatpp/ml/decomposition/detail/row_factor.hpp>

namespace heatpp::ml::detail {

/// Up to this many features, all products of columns are kept instead of a sketch.
inline constexpr std::int64_t few_features = 4096;

struct SketchOptions {
  std::int64_t count;        ///< number of singular values
  std::int64_t oversamples;  ///< additional random directions
  int power_iterations;      ///< each improves values that fall slowly
  std::uint64_t seed;
};
/// Returns the first singular values and right vectors of the rows minus `center`, by random projection (Halko,
/// Martinsson, Tropp 2011): the result of their algorithm 4.4 with 5.1, but from products with the rows' products of
/// columns alone (Nystroem's approximation with a shift: Tropp et al. 2017). So no tensor has as many rows as the
/// samples, and rows are read once an iteration. Values below 1e-8 of the largest are lost. Collective: for each of 1 +
/// power_iterations passes one all-reduce of 8 (features (count + oversamples) + 1) bytes, none if rows are replicated.
/// Results depend on the number of ranks only by rounding.
[[nodiscard]] RightVectors sketched(const Rows& rows, const at::Tensor& center, const SketchOptions& options);

}  // namespace heatpp::ml::detail
