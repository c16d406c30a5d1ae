#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

namespace heatpp::nn {

/// How a node's weights x change when the mean m of the nodes' snapshots s arrives, S batches old, P nodes.
enum class MergePolicy {
  daso,   ///< x = (2S x + P m) / (2S + P), as published (Coquelin et al. 2021)
  alpha,  ///< x = a x + (1 - a) m
  delta,  ///< x = x + b (m - s): keeps the steps of the node while it waited
  outer   ///< as delta with b = 1, but Nesterov's momentum moves the mean (Douillard et al. 2023, DiLoCo):
          ///< with the last mean A, D = m - A: v = mu v + D, and A + lr (D + mu v) replaces m
};

[[nodiscard]] std::string_view name(MergePolicy policy);

struct MergeOptions {
  MergePolicy policy = MergePolicy::delta;
  double alpha = 0.5;           ///< a of `alpha`: weight of the node's own x, 0 <= a <= 1
  double beta = 1.0;            ///< b of `delta`: share of the distance to the mean that is closed, 0 < b <= 1
  double outer_rate = 0.7;      ///< lr of `outer`, > 0
  double outer_momentum = 0.9;  ///< mu of `outer`, 0 <= mu < 1
};

/// Throws ValueError for weights out of range.
void check(const MergeOptions& options);

/// Whether a policy adds m - s to x, instead of moving x towards m.
[[nodiscard]] inline bool adds_difference(MergePolicy policy) {
  return policy == MergePolicy::delta || policy == MergePolicy::outer;
}

/// Returns the fraction by which a policy moves x towards its target: the target is m, or x + (m - s).
[[nodiscard]] double merge_weight(const MergeOptions& options, std::int64_t wait, int nodes);

/// Computes what a policy needs from the means, where m and s are: m, or m - s. `prepared` may be `mean`.
void prepare_merge(at::Tensor& prepared, const at::Tensor& mean, const at::Tensor& snapshot, MergePolicy policy);

/// Moves `x` by `weight` towards its target, given the result of `prepare_merge`, which is undefined afterwards. If all
/// nodes have equal weights, x keeps its bits.
void merge(at::Tensor x, at::Tensor prepared, double weight, MergePolicy policy);

/// Updates the memory of `outer`: moves `anchor`, the last mean, by the nodes' average movement since, `difference`,
/// and by the momentum in `velocity`. With rate 1 and momentum 0, anchor becomes the mean.
void outer_step(at::Tensor anchor, at::Tensor velocity, const at::Tensor& difference, double rate, double momentum);

}  // namespace heatpp::nn
