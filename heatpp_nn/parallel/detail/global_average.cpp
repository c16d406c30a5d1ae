#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/parallel/detail/global_average.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace heatpp::nn::detail {

using heatpp::detail::buffer_of;
using heatpp::detail::raise;

namespace {

// Between two looks at messages under way: short against a message of a megabyte, long against a look.
constexpr std::chrono::microseconds pause{1000};
// The share of the time that may go into waiting before a longer wait is asked for.
constexpr double tolerated_wait = 0.05;

/// Memory like that of `values`, the one there is where the sizes allow: fresh pages cost more than a copy.
at::Tensor& room_like(const at::Tensor& values, at::Tensor& room) {
  if (!room.defined() || room.sizes() != values.sizes()) room = at::empty_like(values);
  return room;
}

}  // namespace

GlobalAverage::GlobalAverage(const Topology& topology, std::vector<at::Tensor> parameters, const GlobalOptions& options)
    : topology_(topology),
      across_(topology.across(), {.node_of = [](int rank) { return rank; }}),
      parameters_(std::move(parameters)),
      options_(options),
      flat_(parameters_),
      narrow_(options.wire != Dtype::float32) {
  check(options);
  count_nodes();
  shards_.resize(flat_.buffers().size());
  deal(0);
  for (auto& shard : shards_) make_memory(shard);
  anchor();
}

void GlobalAverage::check(const GlobalOptions& options) const {
  nn::check(options.merge);
  if (narrow_ && options.wire != Dtype::bfloat16 && options.wire != Dtype::int8)
    raise<TypeError>("daso", "got the wire format {}; expected float32, bfloat16 or int8", name(options.wire));
  if (options.carriers == Carriers::rotating && (anchored() || !options.together))
    raise<ValueError>("daso",
                      "got rotating carriers with a narrow wire, the outer rule or local skips; expected "
                      "carriers all, where each keeps the memory of its share");
}

void GlobalAverage::count_nodes() {
  // Rank 0 of a node has a partner in every other node.
  std::array<std::int64_t, 1> nodes{topology_.across().size()}, smallest{topology_.node().size()};
  topology_.node().broadcast(nodes, 0);
  topology_.comm().allreduce(smallest, ReduceOp::min);
  nodes_ = static_cast<int>(nodes[0]);
  owners_ = static_cast<int>(smallest[0]);
}

/// Shares out the buffers: evenly, or all to one carrier.
void GlobalAverage::deal(int carrier) {
  const auto& node = topology_.node();
  const bool rotating = options_.carriers == Carriers::rotating;
  counts_.clear();
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    const auto& buffer = flat_.buffers()[i];
    auto& counts = counts_.emplace_back(static_cast<std::size_t>(node.size()), 0);
    for (int k = 0; k < owners_; ++k)
      counts[static_cast<std::size_t>(k)] =
          rotating ? (k == carrier) * buffer.numel() : buffer.numel() / owners_ + (k < buffer.numel() % owners_);
    shards_[i].first = std::reduce(counts.begin(), counts.begin() + node.rank());
    shards_[i].values = buffer.narrow(0, shards_[i].first, counts[static_cast<std::size_t>(node.rank())]);
  }
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
  if (!anchored()) return;
  for (std::size_t i = 0; i < shards_.size(); ++i) flat_.pack(parameters_, i, shards_[i].first, shards_[i].anchor);
}

void GlobalAverage::start(bool failed) {
  const at::NoGradGuard no_grad;
  mine_[0] = failed;
  flags_ = mine_;
  topology_.node().allreduce(flags_, ReduceOp::max);
  if (options_.carriers == Carriers::rotating) deal(static_cast<int>(turn_ % owners_));
  ++turn_;
  began_ = Clock::now();
  batches_ = 0;
  landed_at_.reset();
  exposed_before_ = exposed_seconds_;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    auto& shard = shards_[i];
    flat_.pack(parameters_, i, options_.together ? shard.first : 0,
               room_like(options_.together ? shard.values : flat_.buffers()[i], shard.snapshot));
    if (!options_.together) average_in_node(i);
    if (carries()) send(shard, options_.together ? shard.snapshot : shard.values);
  }
  if (!carries()) return;
  requests_.push_back(across_.iallreduce(flags_));
  if (across_.comm().size() > 1) beside_.emplace(pause);
}

/// The shares of the node's mean, where its ranks differ.
void GlobalAverage::average_in_node(std::size_t i) {
  const auto& buffer = flat_.buffers()[i];
  buffer.copy_(shards_[i].snapshot);
  topology_.node().reduce_scatter(buffer_of(buffer), counts_[i]);
  shards_[i].values.div_(topology_.node().size());
}

/// What `weights` are, or what they have learnt since the last mean.
void GlobalAverage::send(Shard& shard, const at::Tensor& weights) {
  if (shard.values.numel() == 0) return;
  if (shard.anchor.defined()) at::sub_out(shard.values, weights, shard.anchor);
  else shard.values.copy_(weights);
  if (!topology_.uniform()) shard.values.mul_(topology_.node().size());
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
  const auto begin = Clock::now();
  for (auto& request : requests_) request.wait();
  exposed_seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
  beside_.reset();
  requests_.clear();
}

/// The batches that this transfer took, as far as it was waited for at a price. A node that is ahead of others waits
/// for their start, too, so that the least of all ranks is what the network takes.
void GlobalAverage::measure(std::int64_t age) {
  const auto elapsed = std::chrono::duration<double>(Clock::now() - began_).count();
  const auto waited = exposed_seconds_ - exposed_before_;
  if (age < 1 || !carries() || elapsed <= waited) return;
  const auto late = (waited - tolerated_wait * elapsed) / (elapsed - waited) * static_cast<double>(age);
  mine_[1] = static_cast<double>(landed_at_ ? *landed_at_ : age) + std::ceil(std::max(0.0, late));
}

bool GlobalAverage::finish(std::int64_t age) {
  land();
  measure(age);
  if (!topology_.uniform()) topology_.node().broadcast(flags_, 0);
  if (flags_[0] != 0) return true;
  const at::NoGradGuard no_grad;
  // A node that has not trained since has nothing of its own to keep.
  const auto policy = age == 0 ? MergePolicy::alpha : options_.merge.policy;
  const auto weight = age == 0 ? 1.0 : merge_weight(options_.merge, age, nodes_);
  for (std::size_t i = 0; i < shards_.size(); ++i) fan_out(i, policy);
  for (std::size_t i = 0; i < parameters_.size(); ++i) merge(parameters_[i], flat_.view(i), weight, policy);
  return false;
}

/// The mean from the sum over the nodes, or what the outer rule makes of it.
at::Tensor GlobalAverage::mean_of(Shard& shard) const {
  const double count = topology_.uniform() ? nodes_ : topology_.comm().size();
  if (!shard.anchor.defined()) return shard.values.div_(count);
  if (options_.merge.policy != MergePolicy::outer) return shard.anchor.add_(shard.values, 1 / count);
  outer_step(shard.anchor, shard.velocity, shard.values.div_(count), options_.merge.outer_rate,
             options_.merge.outer_momentum);
  return shard.anchor;
}

void GlobalAverage::fan_out(std::size_t i, MergePolicy policy) {
  auto& shard = shards_[i];
  if (carries()) {
    const auto mean = mean_of(shard);
    if (options_.together) prepare_merge(shard.values, mean, shard.snapshot, policy);
    else shard.values.copy_(mean);
  }
  auto whole = flat_.buffers()[i];
  topology_.node().allgather(buffer_of(shard.values), buffer_of(whole), counts_[i]);
  if (!options_.together) prepare_merge(whole, whole, shard.snapshot, policy);
}

std::vector<at::Tensor> GlobalAverage::state(bool under_way) const {
  std::vector<at::Tensor> tensors{
      at::tensor({static_cast<double>(turn_), flags_[0], flags_[1], mine_[1]}, at::kDouble)};
  for (const auto& shard : shards_) {
    for (const auto& memory : {shard.anchor, shard.velocity, shard.lost})
      if (memory.defined()) tensors.push_back(memory);
    if (under_way) tensors.insert(tensors.end(), {shard.values, shard.snapshot});
  }
  return tensors;
}

void GlobalAverage::set_state(const std::vector<at::Tensor>& tensors, bool under_way) {
  const auto* numbers = tensors.at(0).const_data_ptr<double>();
  turn_ = static_cast<std::int64_t>(numbers[0]);
  flags_ = {numbers[1], numbers[2]};
  mine_ = {0, numbers[3]};
  if (options_.carriers == Carriers::rotating && turn_ > 0) deal(static_cast<int>((turn_ - 1) % owners_));
  if (under_way)
    for (std::size_t i = 0; i < shards_.size(); ++i)
      shards_[i].snapshot = at::empty_like(options_.together ? shards_[i].values : flat_.buffers()[i]);
  const auto mine = state(under_way);
  const auto same = [](const at::Tensor& a, const at::Tensor& b) { return a.sizes() == b.sizes(); };
  if (!std::ranges::equal(mine, tensors, same))
    raise<ValueError>("daso", "got the state of another model, merge rule or wire; expected this one's");
  for (std::size_t i = 1; i < mine.size(); ++i) at::Tensor(mine[i]).copy_(tensors[i]);
}

}  // namespace heatpp::nn::detail
