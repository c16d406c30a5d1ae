#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ml/decomposition/truncated_svd.hpp>

namespace heatpp::ml::detail {

/// The largest singular values of rows, their right vectors, the variances of the coordinates along these, and the
/// total variance of all columns, in float64.
struct Singular {
  at::Tensor values, vectors, variance;
  double total;
};
/// Computes them; communicates and throws as TruncatedSVD.
[[nodiscard]] Singular singular(const char* op, const Rows& x, const TruncatedSvdOptions& options);

}  // namespace heatpp::ml::detail
