#pragma once

#include <heatpp_nn/optim/plateau.hpp>
#include <heatpp_nn/parallel/daso_options.hpp>
#include <heatpp_nn/parallel/detail/global_average.hpp>
#include <heatpp_nn/parallel/replica.hpp>

namespace torch::optim {
class Optimizer;
}

namespace heatpp::nn {

/// Something that happened, for plots and tests. `age`: batches between start and merge.
struct DasoEvent {
  enum class Kind { phase, interval, start, merge, drain };
  std::int64_t batch = 0;
  Kind kind = Kind::phase;
  Phase phase = Phase::warmup;
  Interval interval = {};
  std::int64_t age = 0;
  [[nodiscard]] bool is_synchronisation() const { return kind == Kind::start || kind == Kind::merge; }
  friend bool operator==(const DasoEvent&, const DasoEvent&) = default;
};

/// The losses since the last review: of this rank, and of all ranks as far as they were added up.
struct LossWindow {
  double sum = 0, count = 0;
  double pooled_sum = 0, pooled_count = 0;
  void add(double loss) { sum += loss, count += 1; }
};

/// What has to survive a restart besides weights, buffers and the optimizer's state.
struct DasoState {
  std::int64_t batch = 0;
  SyncState sync = {};
  Interval wanted = {};     ///< the interval as far as the loss decides on it
  std::int64_t needed = 0;  ///< batches that the network takes, where that is measured
  Tuning tuning = {};       ///< where DASO tunes itself
  DetectMetricPlateau::State plateau = {};
  LossWindow losses = {};
  std::vector<DasoEvent> events = {};
  bool failed = false;                  ///< a gradient in this node was not finite
  std::vector<at::Tensor> memory = {};  ///< of merging and of wires, and what a synchronisation under way brought
  PhasePlan asked = {};                 ///< the phases of the options, which `cool_down()` may have changed since
  std::optional<GradScaler::State> scaler = std::nullopt;
};

/// The optimizer of a `DataParallelMultiGPU` (distributed asynchronous and selective optimization, Coquelin et al.,
/// J. Big Data 2021): gradients are averaged in the node at every batch, weights between the nodes now and then and
/// while training goes on; more often the less the loss still falls. With `interval.local_skips` the ranks of a node
/// drift apart, too, and meet when the nodes do. Batches at the start (warm-up) and end
/// (cool-down) are trained as by `DataParallel`. With one node, all are.
///
/// Where the ranks of a node share the optimizer's work (`ReplicaOptions::shard`), each steps and merges its share, and
/// the node puts the shares together once a batch.
///
/// Every rank must make the same calls. Optimizer state stays with its node until `drain()` or the cool-down averages
/// it. Not finite gradients: the node stops stepping, and all ranks throw ValueError at the next exchange between
/// nodes or the next checkpoint, at once where there is only one node or gradients are averaged over all.
class DASO {
 public:
  /// Both must outlive this object. Collective. Throws ValueError on all ranks for options out of range, and for those
  /// of DASO or the optimizer, as the rate, that differ between ranks; TypeError for optimizers other than SGD, Adam,
  /// AdamW, RMSprop and Adagrad.
  DASO(Replica& replica, torch::optim::Optimizer& optimizer, const DasoOptions& options = {});

  /// One batch, after `loss.backward()`, during which the gradients already travel: waits for their mean, steps the
  /// optimizer, merges what is due and starts what is due. `loss` is this rank's, for the plateau detector. Collective
  /// over the node; over all ranks in warm-up and cool-down, at a review, and at the end of the cycle.
  void step(double loss);
  void step(const at::Tensor& loss);
  void zero_grad();

  /// Waits for what is under way, then averages weights, optimizer state and buffers over all ranks: equal to the bit
  /// on all of them afterwards. Before evaluating, saving and at the end of training. Collective. Throws ValueError
  /// where the optimizer's options differ between ranks by then.
  void drain();
  /// Begins the cool-down with the next batch, where the total number of batches was not known. Collective. Throws
  /// ValueError between backward and step.
  void cool_down();

  [[nodiscard]] Phase phase() const { return phase_of(state_.batch, state_.sync.phases); }
  [[nodiscard]] const Interval& interval() const { return state_.sync.interval; }
  /// How nodes synchronise now; what it costs is known where DASO tunes itself.
  [[nodiscard]] Tuning tuning() const;
  [[nodiscard]] std::int64_t batch() const { return state_.batch; }
  [[nodiscard]] int nodes() const { return global_.nodes(); }
  /// What has happened; of starts and merges the latest thousands, and those since a checkpoint was loaded.
  [[nodiscard]] const std::vector<DasoEvent>& events() const { return state_.events; }
  [[nodiscard]] Replica& replica() const { return replica_; }
  [[nodiscard]] torch::optim::Optimizer& optimizer() const { return optimizer_; }

  struct Counters {
    std::int64_t starts = 0, merges = 0, drains = 0;
    std::int64_t cycle_batches = 0;
    std::int64_t node_bytes = 0;    ///< of gradients that this rank averaged inside its node
    std::int64_t global_bytes = 0;  ///< of what this rank averaged over all ranks or between nodes
    std::int64_t saved_bytes = 0;   ///< by not carrying its share in float32 between nodes at every batch of the cycle
    /// Spent in DASO's own collectives: waiting for means that had not arrived in time, at reviews, in `drain()`, and
    /// for the shares of the node. Means of gradients are the replica's.
    double exposed_seconds = 0;
  };
  [[nodiscard]] Counters counters() const;

  /// Throws ValueError on all ranks where a gradient of any was not finite, as the next exchange between nodes would: a
  /// checkpoint asks for it, so that none is written of a node that no longer steps. Collective.
  void check_finite() const;
  /// This rank's state, after waiting for what is under way to arrive; it is not merged. Every rank must call it.
  [[nodiscard]] DasoState state();
  /// Goes on from `state`, dropping what is under way. Its phases hold where the options ask for the same as those of
  /// the training that it comes from, otherwise the options'; then call `align()`. Throws ValueError where it does not
  /// fit the model and options. Local.
  void set_state(DasoState state);
  /// Brings the weights to what the phase needs that `set_state` has led into: leaving the cycle averages everything.
  /// Collective.
  void align();
  /// Goes on from the state of a training on other ranks, with equal weights on all ranks: the memory of merging starts
  /// anew from these.
  void join_state(DasoState state);
  /// How many tensors a state has of merging and of a transfer under way, before those of the gradients' wires.
  [[nodiscard]] std::size_t memory_size(bool under_way) const { return global_.state(under_way).size(); }
  /// What a state has to have been made with to be continued to the bit: merge rule, carriers, wire and local skips.
  [[nodiscard]] std::vector<std::int64_t> kind() const;
  /// Whether the ranks of a node hold equal weights at all times.
  [[nodiscard]] bool keeps_nodes_equal() const { return !options_.interval.local_skips; }

 private:
  void prepare();
  void go_on_with(const Tuning& tuning);
  void join(DasoState state);
  void average_gradients(const SyncPlan& todo);
  void update();
  void spread();
  void merge(std::int64_t age);
  void start();
  void review();
  void fit();
  void set_interval(const Interval& interval);
  void average_everything();
  void pool_losses();
  void record(DasoEvent::Kind kind, std::int64_t batch, std::int64_t age = 0);

  Replica& replica_;
  torch::optim::Optimizer& optimizer_;
  DasoOptions options_;
  detail::GlobalAverage global_;
  DetectMetricPlateau detector_;
  DasoState state_;
  Counters counters_;
  bool left_out_ = false;        // the batch, since its gradients overflowed
  bool shares_differ_ = false;   // a rank of the node has the newest weights of its share only
  std::string bad_;              // this rank's parameter whose gradient was the first that was not finite
  std::optional<Phase> former_;  // the phase in which a state was saved that has been taken up in another
};

/// One line: phase, batch, interval, wait, synchronisations, bytes sent and saved, exposed time.
[[nodiscard]] std::string to_string(const DASO& daso);
/// Prints that line on rank 0.
void print(const DASO& daso);

}  // namespace heatpp::nn
