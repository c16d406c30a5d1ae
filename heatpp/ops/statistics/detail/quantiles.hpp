#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/statistics/order.hpp>

namespace heatpp::detail {

/// The wanted quantiles of a column.
struct Quantiles {
  std::vector<double> q;  ///< parts of 1
  Interpolation interpolation;
  bool median = false;    ///< the mean of the two elements next to the place
  bool skip_nan = false;  ///< only of the elements that are not NaN
};

/// Whether the method picks elements, so that the result has their dtype.
[[nodiscard]] bool picks(const Quantiles& wanted);

/// Computes the quantiles of the rows of a contiguous matrix on the CPU. Each row continues on the other ranks of
/// `comm` up to `n` elements. Returns float64, or int64 if int64 elements are picked, one row for each quantile. The
/// elements are of a type of AT_DISPATCH_ALL_TYPES.
[[nodiscard]] at::Tensor quantiles_of(const at::Tensor& lines, std::int64_t n, const Quantiles& wanted,
                                      const Communicator& comm);

}  // namespace heatpp::detail
