#pragma once

#include <heatpp/ml/cluster/detail/lloyd.hpp>
#include <heatpp/ml/mixture/detail/components.hpp>

// Passes over rows by which a mixture is learnt and used. Rows' shares of components live as long as a block of them.
namespace heatpp::ml::detail {

/// Some rows of this rank: of each the share of each component, and the logarithm of its density.
struct ShareBlock {
  std::int64_t first, count;
  const double* shares;  ///< components x stride
  std::int64_t stride;
  const double* norms;
};
/// Calls visit for all rows of this rank, from several threads, and gives the weighted sum of the rows' log-densities.
/// Collective: one all-reduce of 16 bytes, none where rows are replicated. Throws ValueError for rows that are not
/// finite.
[[nodiscard]] double for_shares(const Weighted& data, const Components& components,
                                const std::function<void(const ShareBlock&)>& visit);

/// What a step of expectation adds up.
struct Expected {
  MixtureSums sums;
  double log_density = 0;  ///< weighted sum over the rows
};
/// One pass, and one all-reduce of 8 (k s + 3) bytes where each of the k components has s sums; none where rows are
/// replicated. Collective.
[[nodiscard]] Expected expected(const Weighted& data, const Components& components, heatpp::detail::Watch& watch);
/// The same where each row belongs to the nearest of the (k, features) centres alone.
[[nodiscard]] MixtureSums sums_near(const Weighted& data, CovarianceType type, const at::Tensor& centres);

}  // namespace heatpp::ml::detail
