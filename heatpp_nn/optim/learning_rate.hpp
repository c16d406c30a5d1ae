#pragma once

#include <cstdint>
#include <functional>
#include <heatpp_nn/optim/plateau.hpp>
#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace heatpp::nn {

/// A learning rate as a function of the batch, counted from 0 over the whole training. It has no state: after a
/// resumption it goes on by itself. Those below throw ValueError for rates and factors below 0 or not finite, and give
/// none below 0.
using RateSchedule = std::function<double(std::int64_t batch)>;

/// Always the same.
[[nodiscard]] RateSchedule constant_rate(double rate);
/// `rate` times `factor` after every `every` batches.
struct StepDecay {
  double rate = 0.1;
  std::int64_t every = 1;
  double factor = 0.1;
};
[[nodiscard]] RateSchedule step_rate(const StepDecay& decay);
/// `rate` times `factor` at each of the rising `milestones`.
struct MultiStepDecay {
  double rate = 0.1;
  std::vector<std::int64_t> milestones = {};
  double factor = 0.1;
};
[[nodiscard]] RateSchedule multi_step_rate(const MultiStepDecay& decay);
/// `rate` times `factor` at every batch.
struct ExponentialDecay {
  double rate = 0.1;
  double factor = 0.999;
};
[[nodiscard]] RateSchedule exponential_rate(const ExponentialDecay& decay);
/// From `rate` along half a cosine to `end` at batch `length`, and then `end`; with `restarts`, from `rate` again at
/// every multiple of `length` (Loshchilov, Hutter, "SGDR", 2017).
struct CosineDecay {
  double rate = 0.1;
  std::int64_t length = 1;
  double end = 0;
  bool restarts = false;
};
[[nodiscard]] RateSchedule cosine_rate(const CosineDecay& decay);

/// The schedule `after`, whose batch 0 comes behind `batches` batches in which the rate rises evenly to its first
/// value.
[[nodiscard]] RateSchedule warmed_up(RateSchedule after, std::int64_t batches);
/// One schedule after the other: each begins, at its own batch 0, where the one before it has had its `batches`; the
/// last one goes on for ever.
struct RatePart {
  RateSchedule schedule;
  std::int64_t batches = 0;
};
[[nodiscard]] RateSchedule in_sequence(std::vector<RatePart> parts);
/// The product of two schedules.
[[nodiscard]] RateSchedule times(RateSchedule a, RateSchedule b);
/// All rates of the schedule times `factor`, as for `factor` times larger batches (Goyal et al. 2017).
[[nodiscard]] RateSchedule scaled(RateSchedule schedule, double factor);

/// A learning rate that rises evenly to `peak` over `warmup` batches, then falls along half a cosine to `end` at batch
/// `total`.
struct WarmupCosine {
  double peak = 0.1;
  std::int64_t warmup = 0;
  std::int64_t total = 1;
  double end = 0;

  [[nodiscard]] double at(std::int64_t batch) const;
};

struct PlateauRateOptions {
  double factor = 0.1;  ///< by which the rate is multiplied at a plateau
  double smallest = 0;  ///< of the factors' product
  PlateauOptions plateau = {.patience = 10, .threshold = 1e-4};
};
/// Lowers the rate when a metric has stopped improving. The only schedule with a state, which is kept with that of the
/// training. Give it the same values on all ranks (a mean over them), and it does the same on all. Local.
class PlateauRate {
 public:
  struct State {
    double scale = 1;
    DetectMetricPlateau::State plateau = {};
    friend bool operator==(const State&, const State&) = default;
  };

  /// Throws ValueError for a factor that is not between 0 and 1.
  explicit PlateauRate(RateSchedule schedule, const PlateauRateOptions& options = {});

  /// Takes the next value of the metric; true where it lowers the rate.
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

/// Tells when to stop: when a metric has not improved on its best value for more than `patience` values. Keeps which
/// value was best, so that its checkpoint can be taken. Local; the same values on all ranks give the same answer on
/// all.
class EarlyStopping {
 public:
  struct State {
    std::int64_t seen = 0;   ///< values so far
    std::int64_t best = -1;  ///< which of them was best, from 0
    bool stopped = false;
    DetectMetricPlateau::State plateau = {};
    friend bool operator==(const State&, const State&) = default;
  };

  explicit EarlyStopping(const PlateauOptions& options = {.patience = 10, .threshold = 0}) : detector_(options) {}

  /// Takes the next value; true once it is time to stop.
  bool update(double metric);
  /// Whether the value given last is the best so far.
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

/// Learning rates of an optimizer's groups that keep their ratios under one schedule:
///     const GroupRates rates(optimizer);     // 0.1 and 0.001, say
///     rates.set(optimizer, schedule(batch)); // the schedule's, and a hundredth of it
class GroupRates {
 public:
  /// Remembers each group's rate as a share of the largest; where all are 0, all groups are alike. Local.
  explicit GroupRates(const torch::optim::Optimizer& optimizer);
  /// Gives the group with the largest share this rate, and the others their shares of it. A group that was added since
  /// has it as well. Local.
  void set(torch::optim::Optimizer& optimizer, double rate) const;

 private:
  std::vector<double> shares_;
};

}  // namespace heatpp::nn
