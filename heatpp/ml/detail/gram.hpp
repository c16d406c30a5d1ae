#pragma once

#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

/// What means, covariances and linear models of columns follow from.
struct Gram {
  double n = 0;     ///< weight of all rows
  at::Tensor mean;  ///< (columns,)
  at::Tensor
      scatter;  ///< (columns, columns): weighted sums of products of deviations from the mean; / (n - 1): covariance
};

/// Throws ValueError naming the first row, from `first` on, whose targets are not finite. Local.
void check_targets(const char* op, const at::Tensor& targets, std::int64_t first);

struct GramOptions {
  const double* weights = nullptr;                   ///< of this rank's rows; null: 1
  std::optional<at::Tensor> targets = std::nullopt;  ///< more columns behind the features: this rank's rows, float64
};
/// In one pass over the rows, in float64, each piece about its own mean and merged by Chan, Golub, LeVeque (1979), so
/// that rows far from 0 lose nothing; of sparse rows by pairs of entries, with the mean taken off at the end.
/// Collective: one all-reduce of 8 (c + c (c + 1) / 2 + 3) bytes for c columns, none where rows are replicated. Throws
/// ValueError naming the first row that is not finite, of its numbers or its targets.
[[nodiscard]] Gram gram(const char* op, const Rows& rows, const GramOptions& options = {});

}  // namespace heatpp::ml::detail
