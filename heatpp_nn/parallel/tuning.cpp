#include <heatpp_nn/parallel/tuning.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <cmath>

namespace heatpp::nn {

using heatpp::detail::raise;

namespace {

// The share of a transfer that may be exposed before the wait is made longer.
constexpr double tolerated_wait = 0.05;
// Nesterov's momentum on the mean is useful from this ratio of interval to wait on.
constexpr std::int64_t outer_waits = 4;

double ratio(Wire a, Wire b) { return static_cast<double>(wire_bits(a)) / wire_bits(b); }

/// Returns the smallest integer in [least, most] that is not below `x`, which may be infinite.
std::int64_t whole(double x, std::int64_t least, std::int64_t most) {
  return static_cast<std::int64_t>(std::clamp(std::ceil(x), static_cast<double>(least), static_cast<double>(most)));
}

SyncCosts followed(const SyncCosts& now, const SyncCosts& last) {
  if (now.batch == 0) return last;
  return {(now.transfer + last.transfer) / 2, (now.batch + last.batch) / 2, (now.waited + last.waited) / 2,
          (now.drift + last.drift) / 2};
}

/// Returns the widest wire in which a transfer, which takes this long now, is short enough.
Wire widest(Wire now, double transfer, double batch, Wire narrowest) {
  for (const auto wire : {Wire::float32, Wire::bfloat16, Wire::int8})
    if (wire == narrowest || transfer * ratio(wire, now) <= batch * (wire == now ? 1.0 : 0.5)) return wire;
  return narrowest;
}

/// Sets the wire, and the number of fragments if the options have several.
void fit_bytes(Tuning& now, const TuningOptions& options) {
  const bool cuts = options.fragments > 1;
  auto transfer = now.costs.transfer * static_cast<double>(cuts ? now.fragments : 1);
  const auto wire = widest(now.wire, transfer, now.costs.batch, options.narrowest);
  transfer *= ratio(wire, now.wire);
  if (cuts) now.fragments = transfer > now.costs.batch * (now.fragments == 1 ? 1.0 : 0.5) ? options.fragments : 1;
  now.costs.transfer = transfer / static_cast<double>(cuts ? now.fragments : 1);
  now.wire = wire;
}

/// Returns the longest interval at which nodes stay close enough.
std::int64_t farthest(const Tuning& now, const TuningOptions& options) {
  const auto allowed = static_cast<double>(now.interval.batches) * options.drift / std::max(now.costs.drift, 1e-12);
  return whole(std::floor(allowed), options.shortest, options.longest);
}

Interval fitting(const Tuning& now, const TuningOptions& options) {
  const auto& [transfer, batch, waited, drift] = now.costs;
  const auto before = now.interval.batches, far = farthest(now, options);
  const auto share = static_cast<double>(now.fragments);
  const auto wait = whole(transfer / batch - options.late * static_cast<double>(far) / share, 1, options.longest);
  // Waits longer than the transfer are due to nodes that start late; a longer interval does not shorten these.
  const auto exposed = std::min(waited, std::max(0.0, transfer - static_cast<double>(now.interval.wait) * batch));
  const auto wanted = whole(share * exposed / (options.exposed * batch), options.shortest, far);
  const auto batches = std::clamp(wanted, before / 2, 2 * before);
  return {std::max(wait * now.fragments, std::clamp(batches, options.shortest, options.longest)), wait};
}

}  // namespace

void check(const TuningOptions& options) {
  if (!(options.exposed > 0 && options.late > 0 && options.drift > 0))
    raise<ValueError>("daso",
                      "got shares {} and {} of exposed time and a drift of {} to tune for; expected more than 0",
                      options.exposed, options.late, options.drift);
  constexpr std::int64_t most = 1 << 20;
  if (options.fragments < 1 || options.fragments > most)
    raise<ValueError>("daso", "got {} fragments to tune with; expected 1 to {}", options.fragments, most);
  if (options.narrowest != Wire::int8 && options.narrowest != Wire::int4)
    raise<ValueError>("daso", "got the narrowest wire {} to tune with; expected int8 or int4", name(options.narrowest));
  if (options.shortest < 1 || options.longest < options.shortest)
    raise<ValueError>("daso", "got intervals from {} to {} to choose from; expected 1 <= shortest <= longest",
                      options.shortest, options.longest);
}

std::int64_t batches_needed(const SyncCosts& costs) {
  constexpr std::int64_t most = 1 << 20;
  return costs.batch > 0 ? whole((1 - tolerated_wait) * costs.transfer / costs.batch, 1, most) : 1;
}

Tuning tuned(Tuning now, const SyncCosts& last, const TuningOptions& options) {
  if (last.batch <= 0) return now;
  now.costs = followed(now.costs, last);
  fit_bytes(now, options);
  now.interval = fitting(now, options);
  now.policy = now.interval.batches >= outer_waits * now.interval.wait ? MergePolicy::outer : MergePolicy::delta;
  return now;
}

}  // namespace heatpp::nn
