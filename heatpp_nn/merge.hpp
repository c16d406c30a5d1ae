#pragma once

#include <ATen/core/Tensor.h>

namespace heatpp::nn {

/// What becomes of a node's weights x when the mean m of the nodes' snapshots s arrives, S batches old, P nodes.
enum class MergePolicy {
  daso,   ///< x = (2S x + P m) / (2S + P), as published (Coquelin et al. 2021)
  alpha,  ///< x = a x + (1 - a) m
  delta   ///< x = x + b (m - s): what the node learnt while waiting is kept
};

struct MergeOptions {
  MergePolicy policy = MergePolicy::delta;
  double alpha = 0.5;  ///< a of `alpha`: weight of the node's own x, 0 <= a <= 1
  double beta = 1.0;   ///< b of `delta`: share of the distance to the mean that is closed, 0 < b <= 1
};

/// Throws ValueError for weights out of range.
void check(const MergeOptions& options);

/// The part of the way towards its target that a policy moves x: the target is m, or x + (m - s) for `delta`.
[[nodiscard]] double merge_weight(const MergeOptions& options, std::int64_t wait, int nodes);

/// What a policy needs to know of the others, computed where m and s are: m, or m - s in place of m for `delta`.
void prepare_merge(at::Tensor& mean, const at::Tensor& snapshot, MergePolicy policy);

/// Moves `x` by `weight` towards its target, given what `prepare_merge` made; that tensor is used up. Where all nodes
/// have equal weights, x keeps its bits.
void merge(at::Tensor x, at::Tensor prepared, double weight, MergePolicy policy);

}  // namespace heatpp::nn
