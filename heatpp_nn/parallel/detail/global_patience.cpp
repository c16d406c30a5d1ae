#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/parallel/detail/global_average.hpp>
#include <heatpp_nn/parallel/detail/timed.hpp>

#include <ATen/ATen.h>

namespace heatpp::nn::detail {

// Weights are the reference plus the node's own work since. Work that is handed over becomes a part of the reference,
// and travels at the next synchronisation. Merging moves the reference, and with it the weights, to the anchor.

GlobalAverage::~GlobalAverage() {
  try {
    leave(0);
  } catch (...) {  // the communicator has failed, and others report it
  }
}

void GlobalAverage::begin() {
  attendance_.emplace(across_.comm(), *options_.patience, quorum_of(options_.quorum, nodes_));
  beside_.emplace(between_looks, [this] { look(); });
}

/// Takes part in a round of votes, or in the average that follows. Called with `looking_` locked.
void GlobalAverage::advance(bool wait) {
  auto& now = *attendance_;
  if (now.stopped) return;
  if (now.travels) {
    if (wait) wait_all(requests_);
    for (auto& request : requests_)
      if (!request.test()) return;
    return receive();
  }
  const auto verdict = now.ballot.advance(now.me, wait);
  if (!verdict) return;
  now.last = *verdict;
  now.stopped = verdict->stop;
  if (verdict->start) contribute();
}

/// Starts an average with the work that was handed over. A node that is late contributes nothing, with weight 0.
void GlobalAverage::contribute() {
  const at::NoGradGuard no_grad;
  auto& now = *attendance_;
  now.taken = now.me.came.has_value();
  const double size = weighed() ? topology_.node().size() : 1;
  now.weight[0] = now.taken ? size * weight_of_late(now.missed) : 0;
  for (auto& shard : shards_) {
    if (shard.values.numel() == 0) continue;
    if (now.taken) shard.values.copy_(shard.work).mul_(now.weight[0]);
    else shard.values.zero_();
    send_values(shard);
  }
  requests_.push_back(across_.iallreduce(now.weight, {.reproducible = true}));
  now.travels = true;
  ++now.started;
}

/// Moves the anchor by the mean of the work.
void GlobalAverage::receive() {
  const at::NoGradGuard no_grad;
  auto& now = *attendance_;
  requests_.clear();
  const double count = now.weight[0] > 0 ? now.weight[0] : 1;
  for (auto& shard : shards_) move_anchor(shard, count);
  ++now.averaged;
  now.missed = now.taken ? 0 : now.missed + 1;
  if (now.taken) now.me.came.reset();
  now.me.due.reset();  // the next one is due at a later batch
  now.last.call = false;
  now.taken = now.travels = false;
}

GlobalAverage::Seen GlobalAverage::attend(bool due) {
  if (carries() && !attendance_) begin();
  Seen seen;
  if (attendance_) {
    const std::lock_guard lock(looking_);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    auto& now = *attendance_;
    advance(false);
    if (due && now.me.came && !now.me.due && now.started == now.merged) now.me.due = Clock::now();
    const bool fresh = now.averaged > now.merged, waits = now.me.came && !now.taken;
    seen = {.called = now.last.call && !now.me.came && !now.travels,
            .fresh = fresh,
            .held = now.taken || (waits && !fresh),
            .missed = waits && fresh,
            .averaged = now.averaged,
            .end = now.last.end};
  }
  const Timed timed(exposed_seconds_);
  topology_.node().allreduce(seen.all(), ReduceOp::max);
  return seen;
}

void GlobalAverage::come(bool due) {
  if (!attendance_) return;
  const at::NoGradGuard no_grad;
  const std::lock_guard lock(looking_);
  flat_.adopt();
  for (auto& shard : shards_) {
    at::cat_out(shard.work, shard.parts);
    shard.work.sub_(shard.snapshot);
    at::cat_out(shard.snapshot, shard.parts);
  }
  auto& now = *attendance_;
  now.me.came = Clock::now();
  if (due && now.started == now.merged) now.me.due = now.me.came;
}

void GlobalAverage::wait_for_mean() {
  if (!attendance_) return;
  const Timed timed(exposed_seconds_);
  const std::lock_guard lock(looking_);
  auto& now = *attendance_;
  const auto waits = [&] { return now.taken || (now.me.came && now.averaged == now.merged); };
  while (waits() && !now.stopped && (now.taken || !now.last.parting)) advance(true);
}

void GlobalAverage::settle() {
  if (!attendance_) return;
  const std::lock_guard lock(looking_);
  rebase();
}

/// Takes back work that did not travel, and moves the weights to the newest mean plus the node's own work.
void GlobalAverage::rebase() {
  const at::NoGradGuard no_grad;
  auto& now = *attendance_;
  const bool back = now.me.came && !now.taken;
  flat_.adopt();
  for (auto& shard : shards_) {
    if (back) shard.snapshot.sub_(shard.work);
    at::sub_out(shard.snapshot, shard.anchor, shard.snapshot);
    add_to_parts(shard, shard.snapshot);
    shard.snapshot.copy_(shard.anchor);
  }
  if (back) now.me.came.reset(), now.me.due.reset();
  now.merged = now.averaged;
}

void GlobalAverage::leave(std::int64_t batch) {
  if (!attendance_) return;
  {
    const Timed timed(exposed_seconds_);
    const std::lock_guard lock(looking_);
    auto& now = *attendance_;
    now.me.left = Clock::now();
    now.me.batch = batch;
    while (!now.stopped) advance(true);
  }
  beside_.reset();
  rebase();
  attendance_.reset();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace heatpp::nn::detail
