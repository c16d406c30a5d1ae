#pragma once

#include <heatpp/ml/decomposition/detail/row_factor.hpp>

namespace heatpp::ml::detail {

/// Up to so many features all products of columns are kept rather than a sketch.
inline constexpr std::int64_t few_features = 4096;

struct SketchOptions {
  std::int64_t count;        ///< of singular values
  std::int64_t oversamples;  ///< random directions beyond them
  int power_iterations;      ///< each sharpens the values that fall slowly
  std::uint64_t seed;
};
/// The first singular values and right vectors of the rows minus `centre`, by random projection (Halko, Martinsson,
/// Tropp 2011): what their algorithm 4.4 with 5.1 gives, but from products with the rows' products of columns alone
/// (Nystroem's approximation with a shift: Tropp et al. 2017), so that nothing has as many rows as the samples, and
/// rows are read once an iteration. Values below 1e-8 of the largest are lost. Collective: for each of 1 +
/// power_iterations passes one all-reduce of 8 (features (count + oversamples) + 1) bytes, none where rows are
/// replicated. The same on any number of ranks up to rounding.
[[nodiscard]] RightVectors sketched(const Rows& rows, const at::Tensor& centre, const SketchOptions& options);

}  // namespace heatpp::ml::detail
