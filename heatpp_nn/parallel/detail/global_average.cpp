#include <heatpp_nn/parallel/detail/global_average.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/parallel/detail/timed.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace heatpp::nn::detail {

using heatpp::detail::buffer_of;
using heatpp::detail::raise;

namespace {

double seconds(std::chrono::steady_clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

double square_of(const at::Tensor& values) {
  const auto norm = values.norm().item<double>();
  return norm * norm;
}

GlobalAverage::GlobalAverage(const Topology& topology, FlatParameters& flat, Shares& shares,
                             const GlobalOptions& options)
    : topology_(topology),
      across_(topology.across(), {.node_of = [](int rank) { return rank; }}),
      flat_(flat),
      shares_(shares),
      options_(options) {
  check(options);
  count_nodes();
  make_shards();
  anchor();
  if (paired() && weighed()) sizes_ = across_.comm().allgather(std::int64_t{topology_.node().size()});
}

void GlobalAverage::check(const GlobalOptions& options) const {
  nn::check(options.merge);
  if (options.tuned && !options.together)
    raise<ValueError>("daso", "got local skips with a DASO that tunes itself; expected neither or one of them");
  if (options.carriers == Carriers::rotating && anchored())
    raise<ValueError>(
        "daso",
        "got rotating carriers with a narrow wire, the outer rule or tuning; expected carriers all, where each "
        "keeps the memory of its share");
  if (options.partners == Partners::pairs && anchored())
    raise<ValueError>(
        "daso",
        "got pairs of nodes with a narrow wire, the outer rule or tuning, which need a mean of all nodes; expected "
        "neither, or all partners");
  if (options.patience) check_patience(options);
  if (options.fragments > 1 && (!options.together || options.carriers == Carriers::rotating))
    raise<ValueError>("daso", "got {} fragments with local skips or rotating carriers; expected neither, or 1 fragment",
                      options.fragments);
}

/// With a patience nodes add their work to a mean that others have moved, which not every rule can.
void GlobalAverage::check_patience(const GlobalOptions& options) const {
  const auto& merge = options.merge;
  if (merge.policy != MergePolicy::outer && !(merge.policy == MergePolicy::delta && merge.beta == 1))
    raise<ValueError>("daso", "got a patience with the rule {}, beta {}; expected outer, or delta with beta 1",
                      name(merge.policy), merge.beta);
  if (!options.together || options.carriers == Carriers::rotating)
    raise<ValueError>("daso", "got a patience with local skips or rotating carriers; expected neither");
  if (options.partners == Partners::pairs || options.fragments > 1 || options.tuned)
    raise<ValueError>("daso",
                      "got a patience with pairs, {} fragments or tuning; expected none of them, or no patience",
                      options.fragments);
  for (const auto& bucket : flat_.buckets())
    if (!bucket.values.is_cpu())
      raise<ValueError>("daso", "got a patience with weights on {}; expected them on the CPU",
                        bucket.values.device().str());
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
    for (std::int64_t f = 0; fresh && f < options_.fragments; ++f)
      shards_.push_back({.fragment = {f, options_.fragments}});
    for (std::int64_t f = 0; f < options_.fragments; ++f)
      shards_[found->second + static_cast<std::size_t>(f)].buckets.push_back(b);
  }
  if (!options_.together)
    for (const auto& bucket : flat_.buckets())
      apart_.push_back({at::empty_like(bucket.values), at::empty_like(bucket.values)});
  cut_parts();
  for (auto& shard : shards_) make_memory(shard);
}

/// Sets the parts that this rank owns now. If carriers take turns, one carrier owns everything.
void GlobalAverage::cut_parts() {
  for (auto& shard : shards_) {
    shard.parts.clear();
    std::int64_t count = 0;
    for (const auto b : shard.buckets) {
      const auto part = shares_.part(b, flat_.buckets()[b].values);
      shard.parts.push_back(part.narrow(0, shard.fragment.first(part.numel()), shard.fragment.count(part.numel())));
      count += shard.parts.back().numel();
    }
    for (auto* const room : {&shard.values, &shard.snapshot})
      if (!room->defined() || room->numel() != count) *room = at::empty({count}, shard.parts.front().options());
  }
}

void GlobalAverage::take_turn(std::int64_t turn) {
  fragment_ = options_.at_once ? 0 : turn % options_.fragments;
  if (paired() && carries()) partner_ = partner_of(across_.comm().rank(), nodes_, turn / options_.fragments);
  if (options_.carriers != Carriers::rotating) return;
  shares_.give_all_to(static_cast<int>(turn % shares_.owners()));
  cut_parts();
}

void GlobalAverage::make_memory(Shard& shard) const {
  if (!anchored()) return;
  shard.anchor = at::empty_like(shard.values);
  if (options_.merge.policy == MergePolicy::outer || options_.tuned) shard.velocity = at::zeros_like(shard.values);
  if ((narrow() || options_.tuned) && shard.values.scalar_type() == at::kFloat)
    shard.lost = at::zeros(shard.values.sizes(), at::kFloat);  // the CPU encodes the wire format
  if (options_.patience) shard.work = at::zeros_like(shard.values);
}

std::int64_t GlobalAverage::bytes() const {
  std::int64_t sum = 0;
  for (const auto& shard : shards_) {
    if (!travels(shard)) continue;
    const auto count = shard.values.numel();
    sum += shard.lost.defined() ? wire_bytes(options_.wire, count) : count * shard.values.element_size();
  }
  return sum;
}

void GlobalAverage::anchor() {
  const at::NoGradGuard no_grad;
  flat_.adopt();
  for (auto& shard : shards_) {
    if (anchored()) at::cat_out(shard.anchor, shard.parts);
    if (options_.patience) shard.snapshot.copy_(shard.anchor);
  }
}

void GlobalAverage::start(bool failed) {
  const at::NoGradGuard no_grad;
  mine_.failed = failed;
  sums_ = std::exchange(mine_, {});
  {
    const Timed timed(exposed_seconds_);
    topology_.node().allreduce(sums_.all());
  }
  flat_.adopt();
  take_turn(turn_++);
  began_ = Clock::now();
  landed_.reset();
  waited_ = 0;
  if (!options_.together) average_in_node();
  for (auto& shard : shards_) {
    if (!travels(shard)) continue;
    if (options_.together) at::cat_out(shard.snapshot, shard.parts);
    if (carries()) send(shard);
  }
  if (!carries()) return;
  if (!paired())
    requests_.push_back(across_.iallreduce(sums_.all(), {.reproducible = true}));  // nodes decide by these sums
  if (across_.comm().size() > 1) beside_.emplace(between_looks, [this] { look(); });
}

/// If ranks of a node differ, replaces the snapshots by the shares of the node's mean.
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

/// Sends the share, or the change of the share since the last mean.
void GlobalAverage::send(Shard& shard) {
  if (shard.values.numel() == 0) return;
  if (paired()) return exchange(shard);
  if (shard.anchor.defined()) at::sub_out(shard.values, shard.snapshot, shard.anchor);
  else shard.values.copy_(shard.snapshot);
  if (options_.tuned) mine_.apart += square_of(shard.values), mine_.length += square_of(shard.snapshot);
  if (weighed()) shard.values.mul_(topology_.node().size());
  send_values(shard);
}

void GlobalAverage::send_values(Shard& shard) {
  AllreduceOptions options{};
  if (shard.lost.defined() && !narrow()) {
    shard.values.add_(shard.lost);  // left from a narrower wire before
    shard.lost.zero_();
  } else if (shard.lost.defined()) {
    options.wire = options_.wire;
    options.residual = {shard.lost.mutable_data_ptr<float>(), static_cast<std::size_t>(shard.lost.numel())};
  }
  requests_.push_back(across_.iallreduce(buffer_of(shard.values), options));
}

void GlobalAverage::end_batch() {
  if (!attendance_ && !requests_.empty()) look();
}

/// Records the time when everything has arrived, or takes part in votes, unless another thread does.
void GlobalAverage::look() noexcept {
  const std::unique_lock lock(looking_, std::try_to_lock);
  if (!lock || landed_ || error_) return;
  try {
    if (attendance_) return advance(false);
    for (auto& request : requests_)
      if (!request.test()) return;
    landed_ = Clock::now();
  } catch (...) {
    error_ = std::current_exception();
  }
}

void GlobalAverage::land() {
  double passed = 0;
  {
    const Timed timed(passed);
    beside_.reset();
    wait_all(requests_);
  }
  if (!requests_.empty()) look();
  waited_ += passed;
  exposed_seconds_ += passed;
  requests_.clear();
  for (auto& shard : shards_)
    if (shard.mail.defined()) shard.values.copy_(std::exchange(shard.mail, {}));
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void GlobalAverage::drop() {
  leave(0);
  land();
  mine_ = {};
}

void GlobalAverage::measure(std::int64_t age) {
  const auto elapsed = seconds(Clock::now() - began_);
  if (age < 1 || !landed_ || elapsed <= waited_) return;
  mine_.rate = 1 / std::max(seconds(*landed_ - began_), 1e-9);
  mine_.batch = (elapsed - waited_) / static_cast<double>(age);
  mine_.waited = waited_;
}

/// The drift is the nodes' own movement minus their common movement.
SyncCosts GlobalAverage::costs() const {
  if (paired() || sums_.rate <= 0 || sums_.batch <= 0) return {};
  const double carriers = nodes_ * shares_.owners();
  return {.transfer = carriers / sums_.rate,
          .batch = sums_.batch / carriers,
          .waited = sums_.waited / carriers,
          .drift = sums_.length > 0 ? std::sqrt(std::max(0.0, sums_.apart) / sums_.length) : 0.0};
}

void GlobalAverage::set_way(Wire wire, MergePolicy policy, bool at_once) {
  if (policy != options_.merge.policy)
    for (auto& shard : shards_) shard.velocity.zero_();
  options_.wire = wire;
  options_.merge.policy = policy;
  options_.at_once = at_once;
}

bool GlobalAverage::finish(std::int64_t age) {
  land();
  measure(age);
  if (!topology_.uniform()) {
    const Timed timed(exposed_seconds_);
    topology_.node().broadcast(sums_.all(), 0);
  }
  if (sums_.failed != 0 && !paired()) return true;  // the other nodes do not know
  const at::NoGradGuard no_grad;
  // A node that has not trained since the start has no progress of its own to keep.
  const auto policy = age == 0 ? MergePolicy::alpha : options_.merge.policy;
  const auto weight = age == 0 ? 1.0 : merge_weight(options_.merge, age, paired() ? 2 : nodes_);
  flat_.adopt();
  if (options_.together) merge_shares(policy, weight);
  else merge_apart(policy, weight);
  return false;
}

void GlobalAverage::gather() {
  const Timed timed(exposed_seconds_);
  shares_.gather(options_.at_once ? Fragment() : Fragment{fragment_, options_.fragments});
}

std::vector<at::Tensor> GlobalAverage::state(bool under_way) const {
  std::vector<double> numbers{static_cast<double>(turn_)};
  for (auto notes : {sums_, mine_}) numbers.insert(numbers.end(), notes.all().begin(), notes.all().end());
  std::vector<at::Tensor> tensors{at::tensor(numbers, at::kDouble)};
  for (const auto& shard : shards_) {
    for (const auto& memory : {shard.anchor, shard.velocity, shard.lost})
      if (memory.defined()) tensors.push_back(memory);
    if (under_way && travels(shard)) tensors.insert(tensors.end(), {shard.values, shard.snapshot});
  }
  for (const auto& bucket : apart_)
    if (under_way) tensors.push_back(bucket.snapshot);
  return tensors;
}

void GlobalAverage::set_state(const std::vector<at::Tensor>& tensors, bool under_way) {
  const auto refuse = [] {
    raise<ValueError>("daso", "got the state of another model, merge rule or wire; expected this one's");
  };
  if (!state(false)[0].sizes().equals(tensors.at(0).sizes())) refuse();
  const auto* numbers = tensors[0].const_data_ptr<double>();
  turn_ = static_cast<std::int64_t>(*numbers++);
  for (auto* const notes : {&sums_, &mine_})
    for (auto& note : notes->all()) note = *numbers++;
  landed_.reset();
  if (turn_ > 0) take_turn(turn_ - 1);
  const auto mine = state(under_way);
  const auto same = [](const at::Tensor& a, const at::Tensor& b) { return a.sizes() == b.sizes(); };
  if (!std::ranges::equal(mine, tensors, same)) refuse();
  for (std::size_t i = 1; i < mine.size(); ++i) at::Tensor(mine[i]).copy_(tensors[i]);
  for (auto& shard : shards_)
    if (options_.patience) shard.snapshot.copy_(shard.anchor);
}

}  // namespace heatpp::nn::detail
