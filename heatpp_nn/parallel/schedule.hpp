#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace heatpp::nn {

enum class Phase {
  warmup,   ///< gradients are averaged over all ranks at every batch
  cycle,    ///< gradients are averaged in the node, weights between nodes periodically
  cooldown  ///< as warmup, to the end
};
[[nodiscard]] std::string_view to_string(Phase phase);

/// How often nodes synchronise: a global synchronisation starts every `batches` batches, and its result is merged
/// `wait` batches later. wait 0: at once, blocking. The ranks of a node average gradients at every `local`-th batch.
struct Interval {
  std::int64_t batches = 4;
  std::int64_t wait = 1;
  std::int64_t local = 1;
  friend bool operator==(const Interval&, const Interval&) = default;
};

struct IntervalOptions {
  Interval first = {4, 1};   ///< at the start of the cycle
  std::int64_t longest = 8;  ///< interval after a plateau at the shortest interval, 1
  std::int64_t factor = 2;   ///< a plateau divides the interval by it
  /// Ranks of a node train independently, too, with a `local` up to a quarter of `longest`. If false, `local` is 1.
  bool local_skips = false;
  /// Sets the wait to the measured time of the network, and the interval to at least that.
  bool measured = false;
};

/// Returns the interval after a plateau: divided by `factor`, but at least 1, and the wait is one batch less (at least
/// one); after 1 it is the longest again, with a quarter of it as wait (Coquelin et al. 2021).
[[nodiscard]] Interval next_interval(const Interval& now, const IntervalOptions& options);
/// Returns the interval for a network that takes `needed` batches: this is the wait, and the interval is at least that.
/// With fragments, each takes that long, and the interval is at least that of all.
[[nodiscard]] Interval fitted(Interval interval, std::int64_t needed, std::int64_t fragments = 1);

/// The lengths of the phases, in batches from 0. Every length may be 0.
struct PhasePlan {
  std::int64_t warmup = 0;
  std::int64_t cooldown = 0;
  std::optional<std::int64_t> total = std::nullopt;  ///< nullopt: unknown; then there is no cool-down yet
  friend bool operator==(const PhasePlan&, const PhasePlan&) = default;
};
[[nodiscard]] Phase phase_of(std::int64_t batch, const PhasePlan& phases);

/// A global synchronisation under way.
struct Flight {
  std::int64_t started = 0;  ///< number of the batch
  std::int64_t wait = 1;
  friend bool operator==(const Flight&, const Flight&) = default;
};

/// Everything that determines what a batch does.
struct SyncState {
  PhasePlan phases = {};
  Interval interval = {};
  std::int64_t review_every = 100;  ///< batches between two reviews of the loss
  std::int64_t fragments = 1;       ///< a synchronisation is of one of them, and the interval is that of all
  int nodes = 1;
  bool alone = false;           ///< synchronise a single node with itself, for merge rules with a memory
  std::int64_t last_sync = -1;  ///< batch at which the nodes last started or finished with common weights
  std::optional<Flight> flight = std::nullopt;
};

/// What a batch does, in this order.
struct SyncPlan {
  bool global_gradients = false;  ///< average gradients over all ranks
  bool node_gradients = false;    ///< ... over the node; if neither, ranks keep their own
  bool merge = false;             ///< after the optimizer's step: merge the synchronisation that is due
  bool start = false;             ///< start a synchronisation
  bool block = false;             ///< ... and merge it at once
  bool review = false;            ///< review the loss
  bool drain = false;             ///< the cycle ends: average everything once
  friend bool operator==(const SyncPlan&, const SyncPlan&) = default;
};

/// Returns the whole schedule for a batch: a pure function. A result is merged before the next synchronisation starts,
/// so at most one is under way, and its age is its wait. None starts that could not be merged within the cycle.
[[nodiscard]] SyncPlan plan(std::int64_t batch, const SyncState& state);

}  // namespace heatpp::nn
