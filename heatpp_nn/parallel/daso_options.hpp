#pragma once

#include <heatpp_nn/optim/plateau.hpp>
#include <heatpp_nn/parallel/detail/global_average.hpp>
#include <heatpp_nn/parallel/mixed_precision.hpp>
#include <heatpp_nn/parallel/schedule.hpp>
#include <heatpp_nn/parallel/tuning.hpp>

namespace heatpp::nn {

/// All counts are batches.
struct DasoOptions {
  /// The method as published (Coquelin et al. 2021) and as HeAT has it: local skips, the weights of one rank of a node
  /// after another, merged by `daso`, nodes that count alike, and a look at the loss once an epoch of `batches`.
  /// docs/training.md says in what it differs from the defaults and what remains different. Gradients of warm-up and
  /// cool-down travel as the replica says: `{.gradients = {.wire = ht::bfloat16}}` is as published.
  [[nodiscard]] static DasoOptions published(std::int64_t batches, const PhasePlan& phases);
  /// Interval, wait, wire and merge rule follow from what synchronisations take, and from how far the nodes get from
  /// their mean, as `tuned` says; the loss has no say. Begins with int8, and `outer` at rate 0.7 with momentum 0.5,
  /// every four batches. Nothing is sent for it.
  [[nodiscard]] static DasoOptions automatic(const PhasePlan& phases = {});

  PhasePlan phases = {};  ///< lengths of warm-up and cool-down, and of the whole training if known
  IntervalOptions interval = {};
  std::int64_t review_every = 100;  ///< how often the mean loss over all ranks goes to the plateau detector
  PlateauOptions plateau = {};
  MergeOptions merge = {};
  Carriers carriers = Carriers::all;
  bool nodes_count_alike = false;  ///< in the mean of the weights; otherwise each by its number of ranks
  /// Between nodes, of weights in the cycle: float32, or bfloat16 or int8 of what was learnt since the last mean. That
  /// of gradients is an option of the replica.
  Dtype wire = Dtype::float32;
  std::optional<double> max_norm = std::nullopt;  ///< clips the averaged gradients to this 2-norm
  /// Sets interval, wire and rule of merging, with those of the options to begin with. Not with local skips or rotating
  /// carriers.
  std::optional<TuningOptions> tuning = std::nullopt;
  /// Of a training in float16, which scales its losses by it; must outlive DASO. A batch whose gradients overflow is
  /// left out by its node. Not with local skips.
  GradScaler* scaler = nullptr;
};
/// Throws ValueError for options out of range.
void check(const DasoOptions& options);

}  // namespace heatpp::nn
