#pragma once

#include <heatpp/ml/cluster/detail/lloyd.hpp>

namespace heatpp::ml::detail {

/// The median of each column of the rows of each cluster, (clusters, features): the least number up to which half of
/// the weight lies, or the mean of it and the next one where that is half exactly. Clusters without weight have that of
/// `otherwise`. Found by the digits of the numbers, from the first: a pass for each, which counts how many rows have
/// each value of it. Collective: for each of the 64 / d digits of d bits (32 / d of float32) one all-reduce of 8 (k f
/// 2^d + 1) bytes, d of 8, 4, 2 and 1 the largest for which k f 2^d <= 65536, and one of 8 (k f + 1) where a half is
/// exact; none where rows are replicated.
[[nodiscard]] at::Tensor cluster_medians(const Weighted& data, const std::vector<std::int32_t>& labels,
                                         const at::Tensor& otherwise);

enum class CentreRule {
  medians,  ///< of each cluster
  medoids   ///< the row nearest to these, where it is nearer to the cluster's rows than the medoid before
};
/// From the (k, features) float64 `centres`, of Manhattan distances, until no label changes or the centres stay. A
/// cluster that loses all rows takes the one farthest from its centre. Collective: an iteration costs one all-reduce of
/// 8 (2 k + 3) bytes and those of the medians; for medoids two of 8 (k + 1), one of 8 (k f + 1) for the rows and one of
/// 8 (k + 1) for their sums; none where rows are replicated.
[[nodiscard]] LloydResult alternate(const Weighted& data, at::Tensor centres, CentreRule rule,
                                    const LloydOptions& options);

}  // namespace heatpp::ml::detail
