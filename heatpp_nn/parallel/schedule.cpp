#include <heatpp_nn/parallel/schedule.hpp>

#include <algorithm>

namespace heatpp::nn {
namespace {

// Returns the first batch after the cycle; nullopt if it is not known yet.
std::optional<std::int64_t> cycle_end(const PhasePlan& phases) {
  if (!phases.total) return std::nullopt;
  return std::max(phases.warmup, *phases.total - phases.cooldown);
}

std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

bool start_is_due(std::int64_t batch, const SyncState& state, bool merged) {
  if (state.flight && !merged) return false;
  if (batch - state.last_sync < quotient_up(state.interval.batches, state.fragments)) return false;
  const auto end = cycle_end(state.phases);
  return !end || batch + std::max<std::int64_t>(state.interval.wait, 1) < *end;
}

}  // namespace

std::string_view to_string(Phase phase) {
  constexpr std::string_view names[] = {"warm-up", "cycle", "cool-down"};
  return names[static_cast<int>(phase)];
}

Interval next_interval(const Interval& now, const IntervalOptions& options) {
  const auto quarter = std::max<std::int64_t>(1, options.longest / 4);
  if (now.batches <= 1) return {options.longest, quarter, options.local_skips ? quarter : 1};
  const auto batches = std::max<std::int64_t>(1, now.batches / options.factor);
  return {batches, std::clamp<std::int64_t>(now.wait - 1, 1, batches),
          std::max<std::int64_t>(1, now.local / options.factor)};
}

Interval fitted(Interval interval, std::int64_t needed, std::int64_t fragments) {
  interval.wait = std::max<std::int64_t>(1, needed);
  interval.batches = std::max(interval.batches, interval.wait * fragments);
  return interval;
}

Phase phase_of(std::int64_t batch, const PhasePlan& phases) {
  if (batch < phases.warmup) return Phase::warmup;
  const auto end = cycle_end(phases);
  return end && batch >= *end ? Phase::cooldown : Phase::cycle;
}

SyncPlan plan(std::int64_t batch, const SyncState& state) {
  SyncPlan todo;
  const bool cycle = phase_of(batch, state.phases) == Phase::cycle;
  todo.global_gradients = !cycle;
  todo.node_gradients = cycle;
  todo.review = (batch + 1) % state.review_every == 0;
  if (!cycle || (state.nodes == 1 && !state.alone)) return todo;
  todo.node_gradients = (batch + 1) % state.interval.local == 0;
  todo.merge = state.flight && batch - state.flight->started >= state.flight->wait;
  todo.start = start_is_due(batch, state, todo.merge);
  todo.block = todo.start && state.interval.wait == 0;
  todo.drain = phase_of(batch + 1, state.phases) != Phase::cycle;
  return todo;
}

}  // namespace heatpp::nn
