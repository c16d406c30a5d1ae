#pragma once

#include <cstdint>
#include <functional>
#include <heatpp_nn/optim/plateau.hpp>
#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace heatpp::nn {

/// A learning rate as a function of the batch, counted from 0 over the whole training. It has no state, so it continues
/// correctly when a training resumes. The schedules below throw ValueError for rates and factors that are negative or
/// not finite. They never return a negative rate.
using RateSchedule = std::function<double(std::int64_t batch)>;

/// Returns the same rate at every batch.
[[nodiscard]] RateSchedule constant_rate(double rate);
/// Multiplies `rate` by `factor` after every `every` batches.
struct StepDecay {
  double rate = 0.1;
  std::int64_t every = 1;
  double factor = 0.1;
};
[[nodiscard]] RateSchedule step_rate(const StepDecay& decay);
/// Multiplies `rate` by `factor` at each of the increasing `milestones`.
struct MultiStepDecay {
  double rate = 0.1;
  std::vector<std::int64_t> milestones = {};
  double factor = 0.1;
};
[[nodiscard]] RateSchedule multi_step_rate(const MultiStepDecay& decay);
/// Multiplies `rate` by `factor` at every batch.
struct ExponentialDecay {
  double rate = 0.1;
  double factor = 0.999;
};
[[nodiscard]] RateSchedule exponential_rate(const ExponentialDecay& decay);
/// Falls from `rate` along half a cosine to `end` at batch `length`, and stays there. With `restarts`, it starts again
/// from `rate` at every multiple of `length` (Loshchilov, Hutter, "SGDR", 2017).
struct CosineDecay {
  double rate = 0.1;
  std::int64_t length = 1;
  double end = 0;
  bool restarts = false;
};
[[nodiscard]] RateSchedule cosine_rate(const CosineDecay& decay);

/// Returns the schedule `after`, delayed by `batches` batches in which the rate rises linearly to its first
/// value.
[[nodiscard]] RateSchedule warmed_up(RateSchedule after, std::int64_t batches);
/// Puts schedules one after the other. Each begins with its own batch 0 after the `batches` of the one before; the last
/// one does not end.
struct RatePart {
  RateSchedule schedule;
  std::int64_t batches = 0;
};
[[nodiscard]] RateSchedule in_sequence(std::vector<RatePart> parts);
/// Returns the product of two schedules.
[[nodiscard]] RateSchedule times(RateSchedule a, RateSchedule b);
/// Multiplies all rates of the schedule by `factor`, as for batches that are `factor` times larger (Goyal et al. 2017).
[[nodiscard]] RateSchedule scaled(RateSchedule schedule, double factor);

/// A learning rate that rises linearly to `peak` over `warmup` batches, then falls along half a cosine to `end` at
/// batch `total`.
struct WarmupCosine {
  double peak = 0.1;
  std::int64_t warmup = 0;
  std::int64_t total = 1;
  double end = 0;

  [[nodiscard]] double at(std::int64_t batch) const;
};

struct PlateauRateOptions {
  double factor = 0.1;  ///< the rate is multiplied by it at a plateau
  double smallest = 0;  ///< lower bound of the product of the factors
  PlateauOptions plateau = {.patience = 10, .threshold = 1e-4};
};
/// Lowers the rate if a metric stops improving. It is the only schedule with a state; checkpoints of the training
/// contain it. All ranks must pass the same values, e.g. a mean over the ranks; then all get the same rate. Local.
class PlateauRate {
 public:
  struct State {
    double scale = 1;
    DetectMetricPlateau::State plateau = {};
    friend bool operator==(const State&, const State&) = default;
  };

  /// Throws ValueError if the factor is not between 0 and 1.
  explicit PlateauRate(RateSchedule schedule, const PlateauRateOptions& options = {});

  /// Takes the next value of the metric. Returns true if it lowers the rate.
  bool update(double metric);
  [[nodiscard]] double at(std::int64_t batch) const { return state_.scale * schedule_(batch); }
  [[nodiscard]] const State& state() const { return state_; }
  void set_state(const State& state);

 private:
  RateSchedule schedule_;
  PlateauRateOptions options_;
  DetectMetricPlateau detector_;
  State state_;
};

/// Tells when to stop: if a metric does not improve on its best value for more than `patience` values. It stores which
/// value was best, so that the checkpoint of this value can be used. Local. If all ranks pass the same values, all get
/// the same answer.
class EarlyStopping {
 public:
  struct State {
    std::int64_t seen = 0;   ///< number of values so far
    std::int64_t best = -1;  ///< number of the best value, from 0
    bool stopped = false;
    DetectMetricPlateau::State plateau = {};
    friend bool operator==(const State&, const State&) = default;
  };

  explicit EarlyStopping(const PlateauOptions& options = {.patience = 10, .threshold = 0}) : detector_(options) {}

  /// Takes the next value. Returns true if it is time to stop.
  bool update(double metric);
  /// Whether the last value is the best so far.
  [[nodiscard]] bool is_best() const { return state_.seen > 0 && state_.best == state_.seen - 1; }
  [[nodiscard]] double best_value() const { return state_.plateau.best; }
  [[nodiscard]] const State& state() const { return state_; }
  void set_state(const State& state);

 private:
  DetectMetricPlateau detector_;
  State state_;
};

/// Sets the learning rate of all parameter groups.
void set_learning_rate(torch::optim::Optimizer& optimizer, double rate);

/// Applies one schedule to an optimizer's groups and keeps the ratios of their learning rates:
///     const GroupRates rates(optimizer);     // 0.1 and 0.001, say
///     rates.set(optimizer, schedule(batch)); // the schedule's, and a hundredth of it
class GroupRates {
 public:
  /// Stores each group's rate as a fraction of the largest. If all are 0, all fractions are 1. Local.
  explicit GroupRates(const torch::optim::Optimizer& optimizer);
  /// Sets the group with the largest fraction to this rate, and the others to their fractions of it. Groups that were
  /// added later get the rate itself. Local.
  void set(torch::optim::Optimizer& optimizer, double rate) const;

 private:
  std::vector<double> shares_;
};

}  // namespace heatpp::nn
