#include <heatpp_nn/parallel/daso_options.hpp>

#include <heatpp/comm/detail/raise.hpp>

namespace heatpp::nn {

using heatpp::detail::raise;

namespace {

constexpr double longest_patience = 1e6;

}  // namespace

void check(const DasoOptions& options) {
  const auto& interval = options.interval;
  if (interval.first.batches < 1 || interval.first.wait < 0 || interval.first.wait > interval.first.batches)
    raise<ValueError>("daso",
                      "got the first interval {} with {} to wait; expected 0 <= wait <= interval and 1 <= interval",
                      interval.first.batches, interval.first.wait);
  if (interval.longest < 1 || interval.factor < 2)
    raise<ValueError>("daso", "got the longest interval {} and factor {}; expected at least 1 and 2", interval.longest,
                      interval.factor);
  if (options.phases.warmup < 0 || options.phases.cooldown < 0 || options.review_every < 1)
    raise<ValueError>("daso",
                      "got {} batches of warm-up, {} of cool-down, a review every {}; expected >= 0, >= 0, >= 1",
                      options.phases.warmup, options.phases.cooldown, options.review_every);
  if (interval.first.local < 1 || (interval.first.local > 1 && !interval.local_skips))
    raise<ValueError>("daso", "got gradients averaged at every {} batches, local skips {}; expected 1, or local skips",
                      interval.first.local, interval.local_skips);
  constexpr std::int64_t most = 1 << 20;
  if (options.fragments < 1 || options.fragments > most)
    raise<ValueError>("daso", "got {} fragments; expected 1 to {}", options.fragments, most);
  if (options.scaler && interval.local_skips)
    raise<ValueError>("daso", "got a GradScaler and local skips; expected one of them");
  if (options.max_norm && !(*options.max_norm > 0))
    raise<ValueError>("daso", "got the largest norm {}; expected a positive one", *options.max_norm);
  if (options.partners == Partners::pairs && interval.measured)
    raise<ValueError>("daso",
                      "got pairs of nodes with measured waits, which differ between pairs; expected one of them");
  if (options.patience && !(*options.patience >= 0 && *options.patience <= longest_patience))
    raise<ValueError>("daso", "got a patience of {} s; expected 0 to {} s", *options.patience, longest_patience);
  if (!(options.quorum > 0 && options.quorum <= 1))
    raise<ValueError>("daso", "got a quorum of {}; expected a share of the nodes, more than 0 and at most 1",
                      options.quorum);
  if (options.patience && interval.measured)
    raise<ValueError>("daso", "got a patience and measured waits; expected one of them");
  if (options.tuning) check(*options.tuning);
  if (options.tuning && options.fragments > 1 && options.tuning->fragments > 1)
    raise<ValueError>("daso", "got {} fragments, and {} to tune with; expected one of both to be 1", options.fragments,
                      options.tuning->fragments);
}

DasoOptions DasoOptions::published(std::int64_t batches, const PhasePlan& phases) {
  return {.phases = phases,
          .interval = {.first = {4, 1}, .longest = 8, .factor = 2, .local_skips = true},
          .review_every = batches,
          .plateau = {.patience = 2, .threshold = 0.05},
          .merge = {.policy = MergePolicy::daso},
          .carriers = Carriers::rotating,
          .nodes_count_alike = true};
}

DasoOptions DasoOptions::automatic(const PhasePlan& phases) {
  return {.phases = phases,
          .merge = {.policy = MergePolicy::outer, .outer_rate = 0.7, .outer_momentum = 0.5},
          .wire = Wire::int8,
          .tuning = TuningOptions{.narrowest = Wire::int4, .fragments = 4}};
}

}  // namespace heatpp::nn
