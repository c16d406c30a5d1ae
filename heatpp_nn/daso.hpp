#pragma once

#include <heatpp_nn/detail/global_average.hpp>
#include <heatpp_nn/plateau.hpp>
#include <heatpp_nn/replica.hpp>
#include <heatpp_nn/schedule.hpp>

namespace torch::optim {
class Optimizer;
}

namespace heatpp::nn {

/// All counts are batches.
struct DasoOptions {
  PhasePlan phases = {};  ///< lengths of warm-up and cool-down, and of the whole training if known
  IntervalOptions interval = {};
  std::int64_t review_every = 100;  ///< how often the mean loss over all ranks goes to the plateau detector
  PlateauOptions plateau = {};
  MergeOptions merge = {};
};

/// Something that happened, for plots and tests. `age`: batches between start and merge.
struct DasoEvent {
  enum class Kind { phase, interval, start, merge, drain };
  std::int64_t batch = 0;
  Kind kind = Kind::phase;
  Phase phase = Phase::warmup;
  Interval interval = {};
  std::int64_t age = 0;
  friend bool operator==(const DasoEvent&, const DasoEvent&) = default;
};

/// The losses since the last review: of this rank, and of all ranks as far as they were added up.
struct LossWindow {
  double sum = 0, count = 0;
  double pooled_sum = 0, pooled_count = 0;
};

/// What has to survive a restart besides weights and optimizer. Equal on all ranks after `DASO::drain()`.
struct DasoState {
  std::int64_t batch = 0;
  SyncState sync = {};
  DetectMetricPlateau::State plateau = {};
  LossWindow losses = {};
  std::vector<DasoEvent> events = {};
};

/// The optimizer of a `DataParallelMultiGPU` (distributed asynchronous and selective optimization, Coquelin et al.,
/// J. Big Data 2021): gradients are averaged in the node at every batch, weights between the nodes now and then and
/// while training goes on; more often the less the loss still falls. Batches at the start (warm-up) and end
/// (cool-down) are trained as by `DataParallel`. With one node, all are.
///
/// Every rank must make the same calls. Optimizer state stays with its node until `drain()` or the cool-down averages
/// it. Not finite gradients: the node stops stepping, and all ranks throw ValueError at the next exchange between
/// nodes, at once where there is only one or gradients are averaged over all.
class DASO {
 public:
  /// Both must outlive this object. Collective. Throws ValueError for options out of range, TypeError for optimizers
  /// other than SGD, Adam, AdamW, RMSprop and Adagrad.
  DASO(Replica& replica, torch::optim::Optimizer& optimizer, const DasoOptions& options = {});

  /// One batch, after `loss.backward()`: averages gradients, steps the optimizer, merges what is due and starts what is
  /// due. `loss` is this rank's, for the plateau detector. Collective over the node; over all ranks in warm-up and
  /// cool-down, at a review, and at the end of the cycle.
  void step(double loss);
  void step(const at::Tensor& loss);
  void zero_grad();

  /// Waits for what is under way, then averages weights, optimizer state and buffers over all ranks: equal to the bit
  /// on all of them afterwards. Before evaluating, saving and at the end of training. Collective.
  void drain();
  /// Begins the cool-down with the next batch, where the total number of batches was not known. Collective.
  void cool_down();

  [[nodiscard]] Phase phase() const { return phase_of(state_.batch, state_.sync.phases); }
  [[nodiscard]] const Interval& interval() const { return state_.sync.interval; }
  [[nodiscard]] std::int64_t batch() const { return state_.batch; }
  [[nodiscard]] int nodes() const { return global_.nodes(); }
  [[nodiscard]] const std::vector<DasoEvent>& events() const { return state_.events; }
  [[nodiscard]] Replica& replica() const { return replica_; }
  [[nodiscard]] torch::optim::Optimizer& optimizer() const { return optimizer_; }

  struct Counters {
    std::int64_t starts = 0, merges = 0, drains = 0;
    std::int64_t node_bytes = 0;    ///< payload that this rank sent inside its node for gradients
    std::int64_t global_bytes = 0;  ///< payload that this rank sent over all ranks or between nodes
    double exposed_seconds = 0;     ///< spent waiting for results that had not arrived in time
  };
  [[nodiscard]] Counters counters() const;

  /// The state with nothing under way; throws ValueError where something is (call `drain()` first). Local.
  [[nodiscard]] DasoState state() const;
  /// Goes on from `state`. Throws ValueError where a synchronisation is under way. Local.
  void set_state(DasoState state);

 private:
  void average_gradients(bool globally);
  void merge(std::int64_t age);
  void start();
  void review();
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
  bool failed_ = false;  // a gradient in this node was not finite
};

/// One line: phase, batch, interval, wait, synchronisations, bytes, exposed time.
[[nodiscard]] std::string to_string(const DASO& daso);

}  // namespace heatpp::nn
