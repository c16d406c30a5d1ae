#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace heatpp::nn {

enum class Phase {
  warmup,   ///< gradients averaged over all ranks at every batch
  cycle,    ///< gradients averaged in the node, weights between nodes now and then
  cooldown  ///< as warmup, to the end
};
[[nodiscard]] std::string_view to_string(Phase phase);

/// How often nodes meet: a global synchronisation starts every `batches` batches, and its result is merged `wait`
/// batches later. wait 0: at once, blocking. The ranks of a node average gradients at every `local`-th batch.
struct Interval {
  std::int64_t batches = 4;
  std::int64_t wait = 1;
  std::int64_t local = 1;
  friend bool operator==(const Interval&, const Interval&) = default;
};

struct IntervalOptions {
  Interval first = {4, 1};   ///< on entering the cycle
  std::int64_t longest = 8;  ///< batches between synchronisations after a plateau at the shortest interval, 1
  std::int64_t factor = 2;   ///< by which a plateau shortens the interval
  /// Lets the ranks of a node drift apart, too, with a longest `local` of a quarter of `longest`. Otherwise it is 1.
  bool local_skips = false;
  /// Sets the wait to what the network takes, as measured, and the interval to no less.
  bool measured = false;
};

/// The interval after a plateau: shorter by `factor`, but at least 1, with one batch less to wait (at least one);
/// from 1 back to the longest, with a quarter of it to wait (Coquelin et al. 2021).
[[nodiscard]] Interval next_interval(const Interval& now, const IntervalOptions& options);
/// The interval for a network that takes as long as `needed` batches: it waits for so many, and is no shorter.
[[nodiscard]] Interval fitted(Interval interval, std::int64_t needed);

/// When the phases begin, in batches from 0. Every length may be 0.
struct PhasePlan {
  std::int64_t warmup = 0;
  std::int64_t cooldown = 0;
  std::optional<std::int64_t> total = std::nullopt;  ///< nullopt: unknown, no cool-down until it is known
  friend bool operator==(const PhasePlan&, const PhasePlan&) = default;
};
[[nodiscard]] Phase phase_of(std::int64_t batch, const PhasePlan& phases);

/// A global synchronisation under way.
struct Flight {
  std::int64_t started = 0;  ///< batch
  std::int64_t wait = 1;
  friend bool operator==(const Flight&, const Flight&) = default;
};

/// All that decides what a batch does.
struct SyncState {
  PhasePlan phases = {};
  Interval interval = {};
  std::int64_t review_every = 100;  ///< batches between two looks at the loss
  int nodes = 1;
  bool alone = false;           ///< synchronise a single node with itself, for merge rules with a memory
  std::int64_t last_sync = -1;  ///< batch at which the nodes last started or finished a common state
  std::optional<Flight> flight = std::nullopt;
};

/// What a batch does, in this order.
struct SyncPlan {
  bool global_gradients = false;  ///< average gradients over all ranks
  bool node_gradients = false;    ///< ... over the node; if neither, ranks keep their own
  bool merge = false;             ///< after the optimizer's step: merge the synchronisation that is due
  bool start = false;             ///< start a synchronisation
  bool block = false;             ///< ... and merge it at once
  bool review = false;            ///< look at the loss
  bool drain = false;             ///< the cycle ends: average everything once
  friend bool operator==(const SyncPlan&, const SyncPlan&) = default;
};

/// The whole schedule: a pure function. A result is merged before the next synchronisation starts, so at most one is
/// under way and its age is the wait that it was started with; none starts that could not be merged within the cycle.
[[nodiscard]] SyncPlan plan(std::int64_t batch, const SyncState& state);

}  // namespace heatpp::nn
