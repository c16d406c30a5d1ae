#pragma once

#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

/// The sums from which means, covariances and linear models of columns follow.
struct Gram {
  double n = 0;     ///< weight of all rows
  at::Tensor mean;  ///< (columns,)
  at::Tensor
      scatter;  ///< (columns, columns): weighted sums of products of deviations from the mean; / (n - 1): covariance
};

/// Throws ValueError naming the first row, from `first` on, whose targets are not finite. Local.
void check_targets(const char* op, const at::Tensor& targets, std::int64_t first);

struct GramOptions {
  const double* weights = nullptr;                   ///< for this rank's rows; null: 1
  std::optional<at::Tensor> targets = std::nullopt;  ///< more columns behind the features: this rank's rows, float64
};
/// Computes the sums in one pass over the rows, in float64, each piece about its own mean, merged by Chan, Golub,
/// LeVeque (1979), so that rows far from 0 keep their accuracy. Sparse rows: by pairs of entries, with the mean
/// subtracted at the end. Collective: one all-reduce of 8 (c + c (c + 1) / 2 + 3) bytes for c columns, none if rows are
/// replicated. Throws ValueError naming the first row whose numbers or targets are not finite.
[[nodiscard]] Gram gram(const char* op, const Rows& rows, const GramOptions& options = {});

}  // namespace heatpp::ml::detail
