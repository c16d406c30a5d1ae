#include <heatpp_nn/parallel/daso.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace heatpp::nn {

/// Ends a batch if nodes go on without late ones. A node hands over its work at the batch at which the next
/// synchronisation is due, or before if others wait for it, and merges the mean as soon as it is there. It waits for
/// the mean only if the wait of the interval has passed. If it was late, it takes the others' mean without having
/// contributed, and hands over its work at once, for the next one.
void DASO::attend() {
  attends_ = true;
  auto& sync = state_.sync;
  const auto due = [&] { return state_.batch >= sync.last_sync + sync.interval.batches; };
  const auto latest = sync.last_sync + sync.interval.batches + std::max<std::int64_t>(1, sync.interval.wait);
  auto seen = global_->attend(due());
  if (sync.flight && seen.held != 0 && state_.batch >= latest) {
    global_->wait_for_mean();
    seen = global_->attend(due());
  }
  const bool merges = seen.fresh != 0 && seen.held == 0;
  const bool late = merges && (seen.missed != 0 || !sync.flight);
  if (merges) merge_newest(seen.averaged, late);
  if (!sync.flight && (late || seen.called != 0 || plan(state_.batch, sync).start)) hand_over(due());
  state_.batch = std::max(state_.batch, seen.end - 1);
}

/// Merges what has been averaged since the last time. The schedule goes on as on nodes that were in time.
void DASO::merge_newest(std::int64_t averaged, bool late) {
  auto& sync = state_.sync;
  const auto count = averaged - std::exchange(averaged_, averaged);
  const auto age = sync.flight ? state_.batch - sync.flight->started : 0;
  global_->settle();
  gather_merged();
  sync.flight.reset();
  sync.last_sync += count * sync.interval.batches;
  state_.batch = std::max(state_.batch, sync.last_sync);
  counters_.merges += count;
  counters_.missed += late ? count : count - 1;
  counters_.global_bytes += count * global_->bytes();
  sent_bytes_ += count * global_->bytes();
  record(DasoEvent::Kind::merge, state_.batch, age);
}

void DASO::hand_over(bool due) {
  global_->come(due);
  state_.sync.flight = Flight{state_.batch, state_.sync.interval.wait};
  ++counters_.starts;
  record(DasoEvent::Kind::start, state_.batch);
}

/// Ends the time in which nodes go on without late ones. Then all have the number of batches of the first. Collective
/// over all ranks.
void DASO::leave() {
  if (!std::exchange(attends_, false)) return;
  global_->leave(state_.batch);
  gather_merged();
  averaged_ = 0;
  state_.sync.flight.reset();
  std::array<std::int64_t, 1> batch{state_.batch};
  replica_.topology().comm().allreduce(batch, ReduceOp::max);
  state_.batch = batch[0];
}

}  // namespace heatpp::nn
