#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/parallel/detail/global_average.hpp>
#include <heatpp_nn/parallel/detail/timed.hpp>

namespace heatpp::nn::detail {

namespace {

constexpr int tag_of_pairs = 7351;  // a program may send messages of its own over the same communicator

}  // namespace

/// Sends the snapshot to the partner and receives the partner's. Both go through the host.
void GlobalAverage::exchange(Shard& shard) {
  if (!partner_) return;
  shard.sent = shard.snapshot.cpu();
  shard.mail = shard.values.is_cpu() ? shard.values : at::empty_like(shard.sent);
  requests_.push_back(across_.comm().isend(heatpp::detail::buffer_of(shard.sent), *partner_, tag_of_pairs));
  requests_.push_back(across_.comm().ireceive(heatpp::detail::buffer_of(shard.mail), *partner_, tag_of_pairs));
}

/// Both partners add the same two products, so their means have the same bits.
at::Tensor GlobalAverage::mean_of_pair(Shard& shard) {
  if (!partner_) return shard.values.copy_(shard.snapshot);
  if (sizes_.empty()) return shard.values.add_(shard.snapshot).mul_(0.5);
  const auto size = [&](int node) { return static_cast<double>(sizes_[static_cast<std::size_t>(node)]); };
  const double mine = size(across_.comm().rank()), others = size(*partner_);
  return shard.values.mul_(others).add_(shard.snapshot.mul(mine)).div_(mine + others);
}

/// Returns the mean from the sum over the nodes, or the result of the outer rule.
at::Tensor GlobalAverage::mean_of(Shard& shard) {
  if (paired()) return mean_of_pair(shard);
  const double count = weighed() ? topology_.comm().size() : nodes_;
  if (!shard.anchor.defined()) return shard.values.div_(count);
  move_anchor(shard, count);
  if (options_.tuned) mine_.apart -= square_of(shard.values);
  return shard.anchor;
}

/// Moves the anchor by the mean of the nodes' movements, or as the outer rule says. `values` is the sum, then the mean.
void GlobalAverage::move_anchor(Shard& shard, double count) {
  shard.values.div_(count);
  if (options_.merge.policy != MergePolicy::outer) shard.anchor.add_(shard.values);
  else outer_step(shard.anchor, shard.velocity, shard.values, options_.merge.outer_rate, options_.merge.outer_momentum);
}

/// Adds values in the order of the parts.
void GlobalAverage::add_to_parts(const Shard& shard, const at::Tensor& values) {
  std::int64_t first = 0;
  for (auto part : shard.parts) {
    part.add_(values.narrow(0, first, part.numel()));
    first += part.numel();
  }
}

void GlobalAverage::merge_shares(MergePolicy policy, double weight) {
  if (!carries() || (paired() && !partner_)) return;
  for (auto& shard : shards_) {
    if (!travels(shard)) continue;
    prepare_merge(shard.values, mean_of(shard), shard.snapshot, policy);
    std::int64_t first = 0;
    for (const auto& part : shard.parts) {
      merge(part, shard.values.narrow(0, first, part.numel()), weight, policy);
      first += part.numel();
    }
  }
}

void GlobalAverage::merge_apart(MergePolicy policy, double weight) {
  std::vector<at::Tensor> means;
  for (const auto& bucket : apart_) means.push_back(bucket.mean);
  for (auto& shard : shards_) {
    if (!carries()) continue;
    const auto mean = mean_of(shard);
    std::int64_t first = 0;
    for (const auto b : shard.buckets) {
      const auto part = shares_.part(b, means[b]);
      part.copy_(mean.narrow(0, first, part.numel()));
      first += part.numel();
    }
  }
  {
    const Timed timed(exposed_seconds_);
    shares_.gather(means);
  }
  for (std::size_t b = 0; b < means.size(); ++b) {
    prepare_merge(means[b], means[b], apart_[b].snapshot, policy);
    merge(flat_.buckets()[b].values, means[b], weight, policy);
  }
}

}  // namespace heatpp::nn::detail
