#pragma once

#include <heatpp/ml/cluster/detail/lloyd.hpp>

namespace heatpp::ml::detail {

struct Far {
  double distance, row;  ///< the row's global number, exact up to 2^53
};
/// The rows that lie farthest away by the distance of each row of this rank, of several as far the first ones; distance
/// -1 where there are no more. What one rank passes as a failure all throw. Collective: one all-gather of 16 count
/// bytes a rank, none where rows are replicated.
[[nodiscard]] std::vector<Far> farthest(const Rows& rows, std::span<const double> distances, std::size_t count,
                                        const std::optional<Communicator::Failure>& failure);

/// To which centre each row of this rank went, and the origin that sums are about.
struct Assignment {
  const at::Tensor &centres, &origin;
  const std::vector<std::int32_t>& labels;
};
/// The sum of each cluster's rows about the origin, and of their weights, over all ranks.
struct ClusterSums {
  double *sums, *counts;
};
/// Gives each cluster without rows one, of those the farthest from their centres, the first of several as far; scikit-
/// learn's rule. Nothing happens where all rows lie at their centres. Collective where e > 0 clusters are empty: one
/// all-gather of 16 e bytes a rank and one all-reduce of 8 (e (features + 2) + 1); none where rows are replicated.
void relocate_empty(const Weighted& data, const Assignment& assignment, const ClusterSums& sums);

}  // namespace heatpp::ml::detail
