#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/statistics/order.hpp>

namespace heatpp::detail {

/// Which quantiles of a column are wanted.
struct Quantiles {
  std::vector<double> q;  ///< parts of 1
  Interpolation interpolation;
  bool median = false;    ///< the mean of the two elements beside the place
  bool skip_nan = false;  ///< of the elements that are not NaN
};

/// Whether the method picks elements, so that the result has their dtype.
[[nodiscard]] bool picks(const Quantiles& wanted);

/// The quantiles of the rows of a contiguous matrix on the CPU, each of which goes on on the other ranks of `comm` up
/// to `n` elements: float64, or int64 of which elements are picked, one row for each quantile. The elements are
/// of a type of AT_DISPATCH_ALL_TYPES.
[[nodiscard]] at::Tensor quantiles_of(const at::Tensor& lines, std::int64_t n, const Quantiles& wanted,
                                      const Communicator& comm);

}  // namespace heatpp::detail
