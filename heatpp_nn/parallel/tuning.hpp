#pragma once

#include <heatpp/comm/wire.hpp>
#include <heatpp_nn/parallel/merge.hpp>
#include <heatpp_nn/parallel/schedule.hpp>

namespace heatpp::nn {

/// The limits within which a DASO tunes itself.
struct TuningOptions {
  double exposed = 0.05;        ///< share of the time that may be spent waiting at merges, if the drift allows it
  double late = 0.25;           ///< if waiting takes this share, results may be older than a batch
  double drift = 0.08;          ///< largest distance of nodes from their mean, relative: |s - m| / |s|
  std::int64_t shortest = 4;    ///< interval in batches; below four times the wait, `delta` replaces `outer`
  std::int64_t longest = 32;    ///< limit of interval and wait, however slow the network
  Wire narrowest = Wire::int8;  ///< of the slowest networks: int8 or int4
  std::int64_t fragments = 1;   ///< of the weights, one after another, if all take longer than a batch in this wire
};
/// Throws ValueError for options out of range.
void check(const TuningOptions& options);

/// The measured costs of synchronisations, as means over the nodes; times in seconds.
struct SyncCosts {
  double transfer = 0;  ///< from the start until the result has arrived
  double batch = 0;     ///< of training, without the wait at the merge
  double waited = 0;    ///< at the merge
  double drift = 0;     ///< |s - m| / |s|, if it is measured
  friend bool operator==(const SyncCosts&, const SyncCosts&) = default;
};

/// Returns the wait in batches for which at most a twentieth of the transfer is exposed; at least 1.
[[nodiscard]] std::int64_t batches_needed(const SyncCosts& costs);

/// How nodes synchronise, and the recent costs.
struct Tuning {
  Interval interval = {4, 1};
  Wire wire = Wire::int8;
  MergePolicy policy = MergePolicy::outer;
  SyncCosts costs = {};        ///< each synchronisation counts half as much as the next; a batch of 0 s: none yet
  std::int64_t fragments = 1;  ///< in which the weights travel; costs are those of one
  friend bool operator==(const Tuning&, const Tuning&) = default;
};

/// Returns the tuning after one more synchronisation: a pure function, so that nodes with the same numbers agree.
///
/// The wire is the widest that would arrive within half a batch, by its bytes; the current one may take a whole batch.
/// If the weights take longer than a batch in the narrowest wire, they travel in the fragments of the options from now
/// on, until they take half a batch.
/// The interval is as short as the allowed share of waiting time permits, but no longer than the drift permits (Kong et
/// al. 2021: what nodes learn suffers only above a critical consensus distance); one step may at most double or halve
/// it. The wait is one batch, because old results cost more epochs than a long interval. It is longer if waiting would
/// take the share `late` even at the longest interval that the drift permits; the interval is at least the wait. The
/// rule is `outer` if the interval is at least four times the wait, otherwise `delta`, which is less sensitive to old
/// results. With fragments, a synchronisation is of one of them, and the interval is that of all: each may wait once
/// per interval, and the interval is at least the wait of all.
[[nodiscard]] Tuning tuned(Tuning now, const SyncCosts& last, const TuningOptions& options);

}  // namespace heatpp::nn
