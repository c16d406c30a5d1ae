#pragma once

#include <heatpp/comm/dtype.hpp>
#include <heatpp_nn/parallel/merge.hpp>
#include <heatpp_nn/parallel/schedule.hpp>

namespace heatpp::nn {

/// Between what a DASO that tunes itself may choose.
struct TuningOptions {
  double exposed = 0.05;      ///< share of the time that may go into waiting at merges, where the drift allows it
  double late = 0.25;         ///< the same share from which on results may be older than a batch
  double drift = 0.08;        ///< how far nodes may get from their mean, of their length: |s - m| / |s|
  std::int64_t shortest = 4;  ///< interval in batches; below four times the wait, `delta` takes the place of `outer`
  std::int64_t longest = 32;  ///< interval and wait, however slow the network
};
/// Throws ValueError for options out of range.
void check(const TuningOptions& options);

/// What synchronisations cost and do, as means over the nodes; times in seconds.
struct SyncCosts {
  double transfer = 0;  ///< from the start until the result has arrived
  double batch = 0;     ///< of training, without the wait at the merge
  double waited = 0;    ///< at the merge
  double drift = 0;     ///< |s - m| / |s|, where it is looked at
  friend bool operator==(const SyncCosts&, const SyncCosts&) = default;
};

/// Batches that nodes have to wait for a result, so that at most a twentieth of the transfer is waited for; at least 1.
[[nodiscard]] std::int64_t batches_needed(const SyncCosts& costs);

/// How nodes synchronise, and what that has cost of late.
struct Tuning {
  Interval interval = {4, 1};
  Dtype wire = Dtype::int8;
  MergePolicy policy = MergePolicy::outer;
  SyncCosts costs = {};  ///< each synchronisation counts half as much as the next; a batch of 0 s: none yet
  friend bool operator==(const Tuning&, const Tuning&) = default;
};

/// What follows from one more synchronisation: a pure function, so that nodes agree where they put in the same numbers.
///
/// The wire is the widest that would arrive within half a batch, by the bytes; the one in use may take a whole. The
/// interval is as short as the share of the time lost to waiting for the network allows, but no longer than the drift
/// does (Kong et al. 2021: what nodes learn suffers from a consensus distance above some critical one only), which may
/// double or halve it. The wait is a batch, since old results cost more epochs than a long interval does, or more where
/// `late` of the time would be waited even at the longest interval that the drift allows; the interval is no shorter.
/// The rule is `outer` where the interval is four times the wait at least, otherwise `delta`, which old results disturb
/// less.
[[nodiscard]] Tuning tuned(Tuning now, const SyncCosts& last, const TuningOptions& options);

}  // namespace heatpp::nn
