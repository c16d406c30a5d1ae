#pragma once

#include <heatpp/ml/cluster/detail/lloyd.hpp>
#include <heatpp/ml/mixture/detail/components.hpp>

// Passes over rows that fit or use a mixture. Shares of components exist only for a block of rows at a time.
namespace heatpp::ml::detail {

/// Some rows of this rank, with the share of each component in each row, and the logarithm of each row's density.
struct ShareBlock {
  std::int64_t first, count;
  const double* shares;  ///< components x stride
  std::int64_t stride;
  const double* norms;
};
/// Calls visit for all rows of this rank, from several threads, and returns the weighted sum of the rows'
/// log-densities. Collective: one all-reduce of 16 bytes, none if rows are replicated. Throws ValueError for rows that
/// are not finite.
[[nodiscard]] double for_shares(const Weighted& data, const Components& components,
                                const std::function<void(const ShareBlock&)>& visit);

/// The sums of an expectation step.
struct Expected {
  MixtureSums sums;
  double log_density = 0;  ///< weighted sum over the rows
};
/// Does one expectation step: one pass, and one all-reduce of 8 (k s + 3) bytes for s sums of each of the k components;
/// none if rows are replicated. Collective.
[[nodiscard]] Expected expected(const Weighted& data, const Components& components, heatpp::detail::Watch& watch);
/// Sums rows that each belong only to the nearest of the (k, features) centers.
[[nodiscard]] MixtureSums sums_near(const Weighted& data, CovarianceType type, const at::Tensor& centers);

}  // namespace heatpp::ml::detail
