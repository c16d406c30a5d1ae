#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/parallel/detail/global_average.hpp>
#include <heatpp_nn/parallel/detail/timed.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace heatpp::nn::detail {

using heatpp::detail::buffer_of;
using heatpp::detail::raise;

namespace {

// Between two looks at messages under way: short against a message of a megabyte, long against a look.
constexpr std::chrono::microseconds pause{1000};
// The share of the time that may go into waiting before a longer wait is asked for.
constexpr double tolerated_wait = 0.05;

}  // namespace

GlobalAverage::GlobalAverage(const Topology& topology, FlatParameters& flat, Shares& shares,
                             const GlobalOptions& options)
    : topology_(topology),
      across_(topology.across(), {.node_of = [](int rank) { return rank; }}),
      flat_(flat),
      shares_(shares),
      options_(options),
      narrow_(options.wire != Dtype::float32) {
  check(options);
  count_nodes();
  make_shards();
  anchor();
}

void GlobalAverage::check(const GlobalOptions& options) const {
  nn::check(options.merge);
  if (narrow_ && options.wire != Dtype::bfloat16 && options.wire != Dtype::int8)
    raise<TypeError>("daso", "got the wire format {}; expected float32, bfloat16 or int8", name(options.wire));
  if (options.carriers == Carriers::rotating && anchored())
    raise<ValueError>("daso",
                      "got rotating carriers with a narrow wire or the outer rule; expected carriers all, where each "
                      "keeps the memory of its share");
}

void GlobalAverage::count_nodes() {
  // Rank 0 of a node has a partner in every other node.
  std::array<std::int64_t, 1> nodes{topology_.across().size()};
  topology_.node().broadcast(nodes, 0);
  nodes_ = static_cast<int>(nodes[0]);
}

void GlobalAverage::make_shards() {
  std::map<std::pair<at::ScalarType, std::string>, std::size_t> known;
  for (std::size_t b = 0; b < flat_.buckets().size(); ++b) {
    const auto& values = flat_.buckets()[b].values;
    if (values.numel() == 0) continue;
    const auto [found, fresh] = known.emplace(std::pair(values.scalar_type(), values.device().str()), shards_.size());
    if (fresh) shards_.emplace_back();
    shards_[found->second].buckets.push_back(b);
  }
  if (!options_.together)
    for (const auto& bucket : flat_.buckets())
      apart_.push_back({at::empty_like(bucket.values), at::empty_like(bucket.values)});
  cut_parts();
  for (auto& shard : shards_) make_memory(shard);
}

/// What this rank owns by now: one carrier owns everything where they take turns.
void GlobalAverage::cut_parts() {
  for (auto& shard : shards_) {
    shard.parts.clear();
    std::int64_t count = 0;
    for (const auto b : shard.buckets) {
      shard.parts.push_back(shares_.part(b, flat_.buckets()[b].values));
      count += shard.parts.back().numel();
    }
    for (auto* const room : {&shard.values, &shard.snapshot})
      if (!room->defined() || room->numel() != count) *room = at::empty({count}, shard.parts.front().options());
  }
}

void GlobalAverage::take_turn(std::int64_t turn) {
  if (options_.carriers != Carriers::rotating) return;
  shares_.give_all_to(static_cast<int>(turn % shares_.owners()));
  cut_parts();
}

void GlobalAverage::make_memory(Shard& shard) const {
  if (!anchored()) return;
  shard.anchor = at::empty_like(shard.values);
  if (options_.merge.policy == MergePolicy::outer) shard.velocity = at::zeros_like(shard.values);
  if (narrow_ && shard.values.scalar_type() == at::kFloat)
    shard.lost = at::zeros(shard.values.sizes(), at::kFloat);  // the wire is coded by the host
}

std::int64_t GlobalAverage::bytes() const {
  double sum = 0;
  for (const auto& shard : shards_) {
    const auto item = shard.lost.defined() ? static_cast<double>(itemsize(options_.wire))
                                           : static_cast<double>(shard.values.element_size());
    sum += static_cast<double>(shard.values.numel()) * item;
  }
  return static_cast<std::int64_t>(sum);
}

void GlobalAverage::anchor() {
  const at::NoGradGuard no_grad;
  flat_.adopt();
  for (auto& shard : shards_)
    if (anchored()) at::cat_out(shard.anchor, shard.parts);
}

void GlobalAverage::start(bool failed) {
  const at::NoGradGuard no_grad;
  mine_[0] = failed;
  flags_ = mine_;
  {
    const Timed timed(exposed_seconds_);
    topology_.node().allreduce(flags_, ReduceOp::max);
  }
  flat_.adopt();
  take_turn(turn_++);
  began_ = Clock::now();
  batches_ = 0;
  landed_at_.reset();
  waited_ = 0;
  if (!options_.together) average_in_node();
  for (auto& shard : shards_) {
    if (options_.together) at::cat_out(shard.snapshot, shard.parts);
    if (carries()) send(shard);
  }
  if (!carries()) return;
  requests_.push_back(across_.iallreduce(flags_));
  if (across_.comm().size() > 1) beside_.emplace(pause);
}

/// The shares of the node's mean, where its ranks differ, in the place of the snapshots.
void GlobalAverage::average_in_node() {
  std::vector<at::Tensor> means;
  for (std::size_t b = 0; b < apart_.size(); ++b) {
    apart_[b].snapshot.copy_(flat_.buckets()[b].values);
    means.push_back(apart_[b].mean.copy_(apart_[b].snapshot));
  }
  {
    const Timed timed(exposed_seconds_);
    shares_.reduce_scatter(means);
  }
  for (auto& shard : shards_) {
    std::vector<at::Tensor> parts;
    for (const auto b : shard.buckets) parts.push_back(shares_.part(b, apart_[b].mean));
    at::cat_out(shard.snapshot, parts);
    shard.snapshot.div_(topology_.node().size());
  }
}

/// What the share is, or what it has learnt since the last mean.
void GlobalAverage::send(Shard& shard) {
  if (shard.values.numel() == 0) return;
  if (shard.anchor.defined()) at::sub_out(shard.values, shard.snapshot, shard.anchor);
  else shard.values.copy_(shard.snapshot);
  if (weighed()) shard.values.mul_(topology_.node().size());
  AllreduceOptions options{};
  if (shard.lost.defined()) {
    options.wire = options_.wire;
    options.residual = {shard.lost.mutable_data_ptr<float>(), static_cast<std::size_t>(shard.lost.numel())};
  }
  requests_.push_back(across_.iallreduce(buffer_of(shard.values), options));
}

void GlobalAverage::end_batch() {
  if (requests_.empty()) return;
  ++batches_;
  bool landed = true;
  for (auto& request : requests_) landed = request.test() && landed;
  if (landed && !landed_at_) landed_at_ = batches_;
}

void GlobalAverage::land() {
  double passed = 0;
  {
    const Timed timed(passed);
    for (auto& request : requests_) request.wait();
  }
  waited_ += passed;
  exposed_seconds_ += passed;
  beside_.reset();
  requests_.clear();
}

/// The batches that this transfer took, as far as it was waited for at a price. A node that is ahead of others waits
/// for their start, too, so that the least of all ranks is what the network takes.
void GlobalAverage::measure(std::int64_t age) {
  const auto elapsed = std::chrono::duration<double>(Clock::now() - began_).count();
  if (age < 1 || !carries() || elapsed <= waited_) return;
  const auto late = (waited_ - tolerated_wait * elapsed) / (elapsed - waited_) * static_cast<double>(age);
  mine_[1] = static_cast<double>(landed_at_ ? *landed_at_ : age) + std::ceil(std::max(0.0, late));
}

bool GlobalAverage::finish(std::int64_t age) {
  land();
  measure(age);
  if (!topology_.uniform()) {
    const Timed timed(exposed_seconds_);
    topology_.node().broadcast(flags_, 0);
  }
  if (flags_[0] != 0) return true;
  const at::NoGradGuard no_grad;
  // A node that has not trained since has nothing of its own to keep.
  const auto policy = age == 0 ? MergePolicy::alpha : options_.merge.policy;
  const auto weight = age == 0 ? 1.0 : merge_weight(options_.merge, age, nodes_);
  flat_.adopt();
  if (options_.together) merge_shares(policy, weight);
  else merge_apart(policy, weight);
  return false;
}

/// The mean from the sum over the nodes, or what the outer rule makes of it.
at::Tensor GlobalAverage::mean_of(Shard& shard) const {
  const double count = weighed() ? topology_.comm().size() : nodes_;
  if (!shard.anchor.defined()) return shard.values.div_(count);
  if (options_.merge.policy != MergePolicy::outer) return shard.anchor.add_(shard.values, 1 / count);
  outer_step(shard.anchor, shard.velocity, shard.values.div_(count), options_.merge.outer_rate,
             options_.merge.outer_momentum);
  return shard.anchor;
}

void GlobalAverage::merge_shares(MergePolicy policy, double weight) {
  if (!carries()) return;
  for (auto& shard : shards_) {
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

std::vector<at::Tensor> GlobalAverage::state(bool under_way) const {
  std::vector<at::Tensor> tensors{
      at::tensor({static_cast<double>(turn_), flags_[0], flags_[1], mine_[1]}, at::kDouble)};
  for (const auto& shard : shards_) {
    for (const auto& memory : {shard.anchor, shard.velocity, shard.lost})
      if (memory.defined()) tensors.push_back(memory);
    if (under_way) tensors.insert(tensors.end(), {shard.values, shard.snapshot});
  }
  for (const auto& bucket : apart_)
    if (under_way) tensors.push_back(bucket.snapshot);
  return tensors;
}

void GlobalAverage::set_state(const std::vector<at::Tensor>& tensors, bool under_way) {
  const auto* numbers = tensors.at(0).const_data_ptr<double>();
  turn_ = static_cast<std::int64_t>(numbers[0]);
  flags_ = {numbers[1], numbers[2]};
  mine_ = {0, numbers[3]};
  if (turn_ > 0) take_turn(turn_ - 1);
  const auto mine = state(under_way);
  const auto same = [](const at::Tensor& a, const at::Tensor& b) { return a.sizes() == b.sizes(); };
  if (!std::ranges::equal(mine, tensors, same))
    raise<ValueError>("daso", "got the state of another model, merge rule or wire; expected this one's");
  for (std::size_t i = 1; i < mine.size(); ++i) at::Tensor(mine[i]).copy_(tensors[i]);
}

}  // namespace heatpp::nn::detail
