#include <heatpp_nn/parallel/merge.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <ATen/ATen.h>

namespace heatpp::nn {

using heatpp::detail::raise;

std::string_view name(MergePolicy policy) {
  constexpr std::string_view names[] = {"daso", "alpha", "delta", "outer"};
  return names[static_cast<int>(policy)];
}

void check(const MergeOptions& options) {
  if (!(options.alpha >= 0 && options.alpha <= 1))
    raise<ValueError>("daso", "got the merge weight alpha {}; expected 0 <= alpha <= 1", options.alpha);
  if (!(options.beta > 0 && options.beta <= 1))
    raise<ValueError>("daso", "got the merge weight beta {}; expected 0 < beta <= 1", options.beta);
  if (!(options.outer_rate > 0 && options.outer_momentum >= 0 && options.outer_momentum < 1))
    raise<ValueError>("daso", "got the outer rate {} and momentum {}; expected rate > 0 and 0 <= momentum < 1",
                      options.outer_rate, options.outer_momentum);
}

double merge_weight(const MergeOptions& options, std::int64_t wait, int nodes) {
  switch (options.policy) {
    case MergePolicy::daso: return nodes / (2.0 * static_cast<double>(wait) + nodes);
    case MergePolicy::alpha: return 1 - options.alpha;
    case MergePolicy::delta: return options.beta;
    case MergePolicy::outer: return 1;
  }
  return 1;
}

void prepare_merge(at::Tensor& prepared, const at::Tensor& mean, const at::Tensor& snapshot, MergePolicy policy) {
  if (adds_difference(policy)) at::sub_out(prepared, mean, snapshot);
  else prepared.copy_(mean);
}

void merge(at::Tensor x, at::Tensor prepared, double weight, MergePolicy policy) {
  const at::NoGradGuard no_grad;
  if (adds_difference(policy)) x.add_(prepared, weight);
  else if (weight == 1) x.copy_(prepared);  // equal to the bit on all nodes
  else x.add_(prepared.sub_(x), weight);
}

void outer_step(at::Tensor anchor, at::Tensor velocity, const at::Tensor& difference, double rate, double momentum) {
  anchor.add_(difference, rate);
  if (momentum == 0) return;
  velocity.mul_(momentum).add_(difference);
  anchor.add_(velocity, rate * momentum);
}

}  // namespace heatpp::nn
