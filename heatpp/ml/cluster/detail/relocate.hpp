#pragma once

#include <heatpp/ml/cluster/detail/lloyd.hpp>

namespace heatpp::ml::detail {

struct Far {
  double distance, row;  ///< the row's global number, exact up to 2^53
};
/// Returns the rows with the largest distances, the first ones for ties; distance -1 if there are no more. A
/// failure of one rank is thrown on all. Collective: one all-reduce of a record of 16 (count + 1) bytes, none if rows
/// are replicated.
[[nodiscard]] std::vector<Far> farthest(const Rows& rows, std::span<const double> distances, std::size_t count,
                                        const std::optional<Communicator::Failure>& failure);

/// The cluster of each row of this rank, the centers, and the origin of the sums.
struct Assignment {
  const at::Tensor &centers, &origin;
  const std::vector<std::int32_t>& labels;
};
/// The sums of each cluster's rows about the origin, and of their weights, over all ranks.
struct ClusterSums {
  double *sums, *counts;
};
/// Gives each cluster without rows one of the rows farthest from their centers, the first for ties, as scikit-learn
/// does. Does nothing if all rows lie at their centers. Collective if e > 0 clusters are empty: an all-reduce of a
/// record of 16 (e + 1) bytes and one of 8 (e (features + 2) + 1) bytes; none if rows are replicated.
void relocate_empty(const Weighted& data, const Assignment& assignment, const ClusterSums& sums);

}  // namespace heatpp::ml::detail
