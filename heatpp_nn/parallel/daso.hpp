#pragma once

#include <heatpp_nn/optim/plateau.hpp>
#include <heatpp_nn/parallel/daso_options.hpp>
#include <heatpp_nn/parallel/detail/global_average.hpp>
#include <heatpp_nn/parallel/replica.hpp>

namespace torch::optim {
class Optimizer;
}

namespace heatpp::nn {

/// An event, for plots and tests. `age`: batches between start and merge. `fragment`: the one that starts or is merged.
struct DasoEvent {
  enum class Kind { phase, interval, start, merge, drain };
  std::int64_t batch = 0;
  Kind kind = Kind::phase;
  Phase phase = Phase::warmup;
  Interval interval = {};
  std::int64_t age = 0;
  std::int64_t fragment = 0;
  [[nodiscard]] bool is_synchronisation() const { return kind == Kind::start || kind == Kind::merge; }
  friend bool operator==(const DasoEvent&, const DasoEvent&) = default;
};

/// The losses since the last review: those of this rank, and the sums over all ranks so far.
struct LossWindow {
  double sum = 0, count = 0;
  double pooled_sum = 0, pooled_count = 0;
  void add(double loss) { sum += loss, count += 1; }
};

/// The state for a checkpoint besides weights, buffers and the optimizer's state.
struct DasoState {
  std::int64_t batch = 0;
  SyncState sync = {};
  Interval wanted = {};     ///< the interval that the loss decides on
  std::int64_t needed = 0;  ///< measured batches that the network takes
  Tuning tuning = {};       ///< used if DASO tunes itself
  DetectMetricPlateau::State plateau = {};
  LossWindow losses = {};
  std::vector<DasoEvent> events = {};
  bool failed = false;                  ///< a gradient in this node was not finite
  std::vector<at::Tensor> memory = {};  ///< of the merge rule, wires, and a synchronisation under way
  PhasePlan asked = {};                 ///< phases of the options; `cool_down()` may have changed them since
  std::optional<GradScaler::State> scaler = std::nullopt;
};

/// The optimizer of a `DataParallelMultiGPU`: distributed asynchronous and selective optimization (Coquelin et al.
/// 2021, Journal of Big Data). Gradients are averaged in the node at every batch. Weights are averaged between the
/// nodes periodically while training continues; more often if the loss falls more slowly. With `interval.local_skips`
/// the ranks of a node also train independently between these averages. Batches of the warm-up and the cool-down are
/// trained as by `DataParallel`. With one node, all are.
///
/// If the ranks of a node share the optimizer's work (`ReplicaOptions::shard`), each steps and merges its share, and
/// the node gathers the shares once per batch.
///
/// Every rank must make the same calls. Optimizer state stays in its node until `drain()` or the cool-down averages it.
/// If gradients are not finite, the node stops stepping, and all ranks throw ValueError at the next exchange between
/// nodes or the next checkpoint; at once if there is only one node or gradients are averaged over all ranks.
///
/// With `DasoOptions::patience`, nodes that are late skip batches: `batch()` may grow by more than one in a step. A
/// loop that ends by it, and then calls `drain()`, ends on all nodes at about the same time.
class DASO {
 public:
  /// Both must outlive this object. Collective. Throws ValueError on all ranks for options out of range, and if options
  /// of DASO or of the optimizer, e.g. the rate, differ between ranks; TypeError for optimizers of unknown kinds
  /// (`OptimizerKind`).
  DASO(Replica& replica, torch::optim::Optimizer& optimizer, const DasoOptions& options = {});

  /// Ends one batch after `loss.backward()`, during which the gradients already travel: waits for their mean, steps the
  /// optimizer, and merges and starts synchronisations that are due. `loss` is this rank's, for the plateau detector.
  /// Collective over the node; over all ranks in warm-up and cool-down, at a review, and at the end of the cycle.
  void step(double loss);
  void step(const at::Tensor& loss);
  void zero_grad();

  /// Waits for transfers under way, then averages weights, optimizer state and buffers over all ranks; afterwards they
  /// have the same bits on all. Call it before evaluating and saving, and at the end of training. Collective. Throws
  /// ValueError if the optimizer's options differ between ranks.
  void drain();
  /// Begins the cool-down with the next batch, if the total number of batches was not known. Collective. Throws
  /// ValueError between backward and step.
  void cool_down();

  [[nodiscard]] Phase phase() const { return phase_of(state_.batch, state_.sync.phases); }
  [[nodiscard]] const Interval& interval() const { return state_.sync.interval; }
  /// Returns how nodes synchronise now; costs are known if DASO tunes itself.
  [[nodiscard]] Tuning tuning() const;
  [[nodiscard]] std::int64_t batch() const { return state_.batch; }
  [[nodiscard]] int nodes() const { return global_->nodes(); }
  /// Returns the number of fragments in which the weights travel now.
  [[nodiscard]] std::int64_t fragments() const { return state_.sync.fragments; }
  [[nodiscard]] Partners partners() const { return options_.partners; }
  /// Returns the seconds after which nodes go on without those that are late; nullopt: never.
  [[nodiscard]] std::optional<double> patience() const { return options_.patience; }
  /// Returns the events; of starts and merges only the latest thousands, and only those since a checkpoint was loaded.
  [[nodiscard]] const std::vector<DasoEvent>& events() const { return state_.events; }
  [[nodiscard]] Replica& replica() const { return replica_; }
  [[nodiscard]] torch::optim::Optimizer& optimizer() const { return optimizer_; }

  struct Counters {
    std::int64_t starts = 0, merges = 0, drains = 0;
    std::int64_t missed = 0;  ///< synchronisations that went without this node, for which it was late
    std::int64_t cycle_batches = 0;
    std::int64_t node_bytes = 0;    ///< bytes of gradients that this rank averaged inside its node
    std::int64_t global_bytes = 0;  ///< bytes that this rank averaged over all ranks or between nodes
    std::int64_t saved_bytes = 0;   ///< compared to its share in float32 between nodes at every batch of the cycle
    /// Time in DASO's own collectives: waits for means that were late, reviews, `drain()`, and the gather of the node's
    /// shares. Means of gradients, which the replica computes, do not count.
    double exposed_seconds = 0;
  };
  [[nodiscard]] Counters counters() const;

  /// Throws ValueError on all ranks if a gradient of any was not finite, as the next exchange between nodes would. A
  /// checkpoint calls it, so that none is written of a node that no longer steps. Collective.
  void check_finite() const;
  /// Returns this rank's state. Waits for transfers under way, but does not merge them. Every rank must call it.
  [[nodiscard]] DasoState state();
  /// Continues from `state` and drops transfers under way. If the options ask for the same phases as those of the
  /// training that wrote the state, the state's phases hold, otherwise those of the options. Call `align()` afterwards.
  /// Throws ValueError if the state does not fit the model and options. Local.
  void set_state(DasoState state);
  /// Brings the weights to the phase that `set_state` has led into: leaving the cycle averages everything.
  /// Collective.
  void align();
  /// Continues from the state of a training on other ranks, with equal weights on all ranks: the memory of the merge
  /// rule restarts from these.
  void join_state(DasoState state);
  /// Drops what is under way after ranks have ended. Returns the state without memory. Local.
  [[nodiscard]] DasoState abandon();
  /// Continues with the ranks to which the replica has moved, with equal weights on all, from the state of one of them.
  /// Collective.
  void rejoin(DasoState state);
  /// Returns the number of a state's tensors for merging and a transfer, without those of the gradients' wires.
  [[nodiscard]] std::size_t memory_size(bool under_way) const { return global_->state(under_way).size(); }
  /// Returns what must be equal to continue with the same bits: merge rule, carriers, wire and local skips.
  [[nodiscard]] std::vector<std::int64_t> kind() const;
  /// Whether the ranks of a node hold equal weights at all times.
  [[nodiscard]] bool keeps_nodes_equal() const { return !options_.interval.local_skips; }
  /// Whether each rank of a node owns a share of its weights, which others get from it.
  [[nodiscard]] bool owns_shares() const { return keeps_nodes_equal() && options_.carriers == Carriers::all; }

 private:
  void prepare();
  void go_on_with(const Tuning& tuning);
  void join(DasoState state);
  void average_gradients(const SyncPlan& todo);
  void update();
  void spread();
  void merge(std::int64_t age);
  void gather_merged();
  void start();
  void review();
  void synchronise(const SyncPlan& todo);

  // These are in detail/daso_patience.cpp.
  void attend();
  void merge_newest(std::int64_t averaged, bool late);
  void hand_over(bool due);
  void leave();

  void fit();
  void set_interval(const Interval& interval);
  void average_everything();
  void pool_losses();
  void record(DasoEvent::Kind kind, std::int64_t batch, std::int64_t age = 0);

  Replica& replica_;
  torch::optim::Optimizer& optimizer_;
  DasoOptions options_;
  std::optional<detail::GlobalAverage> global_;  // empty only while it moves to the remaining ranks
  DetectMetricPlateau detector_;
  DasoState state_;
  Counters counters_;
  bool attends_ = false;         // nodes may go on without this one
  std::int64_t averaged_ = 0;    // number of averages since it attends
  bool left_out_ = false;        // skipped the batch because its gradients overflowed
  bool shares_differ_ = false;   // a rank of the node has the newest weights of its share only
  std::int64_t sent_bytes_ = 0;  // between nodes in the cycle
  std::string bad_;              // the first parameter of this rank whose gradient was not finite
  std::optional<Phase> former_;  // phase in which a state was saved, if it was loaded in another one
};

/// Returns one line: phase, batch, interval, wait, synchronisations, bytes sent and saved, exposed time.
[[nodiscard]] std::string to_string(const DASO& daso);
/// Prints the line of to_string on rank 0.
void print(const DASO& daso);

}  // namespace heatpp::nn
