#pragma once

#include <heatpp/ml/cluster/detail/lloyd.hpp>

namespace heatpp::ml::detail {

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
