#pragma once

#include <heatpp/ml/cluster/detail/lloyd.hpp>

namespace heatpp::ml::detail {

/// Returns the median of each column of the rows of each cluster, (clusters, features): the least number up to which
/// half of the weight lies, or its mean with the next one if that is exactly half. Clusters without weight take the row
/// of `otherwise`. Medians are found digit by digit, from the first: each pass counts the rows with each value of a
/// digit. Collective: one all-reduce of 8 (k f 2^d + 1) bytes for each of the 64 / d digits of d bits (32 / d of
/// float32), and one of 8 (k f + 1) if a half is exact; none if rows are replicated. d is the largest of 8, 4, 2 and 1
/// for which k f 2^d <= 65536.
[[nodiscard]] at::Tensor cluster_medians(const Weighted& data, const std::vector<std::int32_t>& labels,
                                         const at::Tensor& otherwise);

enum class CenterRule {
  medians,  ///< the median of each column
  medoids   ///< the row nearest to the medians, if it lowers the cluster's sum of distances
};
/// Improves the (k, features) float64 `centers`, by Manhattan distances, until no label changes or the centers stay. A
/// cluster that loses all rows takes the one farthest from its center. Collective: an iteration costs one all-reduce of
/// 8 (2 k + 3) bytes and those of the medians; for medoids two of 8 (k + 1), one of 8 (k f + 1) for the rows and one of
/// 8 (k + 1) for their sums; none if rows are replicated.
[[nodiscard]] LloydResult alternate(const Weighted& data, at::Tensor centers, CenterRule rule,
                                    const LloydOptions& options);

}  // namespace heatpp::ml::detail
