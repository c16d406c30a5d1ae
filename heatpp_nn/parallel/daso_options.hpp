#pragma once

#include <heatpp_nn/optim/plateau.hpp>
#include <heatpp_nn/parallel/detail/global_average.hpp>
#include <heatpp_nn/parallel/mixed_precision.hpp>
#include <heatpp_nn/parallel/schedule.hpp>
#include <heatpp_nn/parallel/tuning.hpp>

namespace heatpp::nn {

/// All counts are batches.
struct DasoOptions {
  /// Returns the options of the method as published (Coquelin et al. 2021) and as in HeAT: local skips, the ranks of a
  /// node carry the weights in turn, merge rule `daso`, nodes of equal weight, and a review of the loss once per epoch
  /// of `batches`. docs/training.md lists the differences from the defaults and from the publication. Gradients of
  /// warm-up and cool-down use the replica's wire: `{.gradients = {.wire = ht::Wire::bfloat16}}` is as published.
  [[nodiscard]] static DasoOptions published(std::int64_t batches, const PhasePlan& phases);
  /// Returns options with which interval, wait, wire, fragments and merge rule follow from the time of synchronisations
  /// and from the distance of the nodes from their mean, as `tuned` says; the loss has no influence. It begins with
  /// int8, and `outer` at rate 0.7 with momentum 0.5, every four batches. On slow networks the weights travel in int4,
  /// and in four fragments. It sends no extra messages.
  [[nodiscard]] static DasoOptions automatic(const PhasePlan& phases = {});

  PhasePlan phases = {};  ///< lengths of warm-up and cool-down, and of the whole training if it is known
  IntervalOptions interval = {};
  std::int64_t review_every = 100;  ///< batches between updates of the plateau detector with the ranks' mean loss
  PlateauOptions plateau = {};
  MergeOptions merge = {};
  Carriers carriers = Carriers::all;
  /// With `pairs`, no step waits for all nodes except reviews of the loss and `drain()`, which make weights equal. For
  /// many nodes, with long times between reviews. A gradient that is not finite is an error at these, and at
  /// checkpoints. Not with a narrower wire, rule `outer`, tuning or measured waits, which need the mean of all nodes.
  Partners partners = Partners::all;
  /// The weights travel in this many fragments of equal bytes, one after another, each every `interval.batches`
  /// batches, rounded up to a multiple of the fragments (Douillard et al. 2025, Streaming DiLoCo): the peak rate of a
  /// link falls by this factor, the mean rate stays. Each rank cuts its share of the weights, from the last layer to
  /// the first. A fragment starts after the one before it is merged. Not with local skips or rotating carriers.
  std::int64_t fragments = 1;
  /// A synchronisation starts without nodes that are late by this many seconds, if it is due for the share `quorum` of
  /// the nodes at least (docs/training.md). They take part in the next one, with less weight, and skip the batches by
  /// which others are ahead: end the loop by `DASO::batch()`. Resuming does not give the same bits, and there are no
  /// reviews of the loss. nullopt: all wait for all. With rule `outer`, or `delta` with beta 1; not with local skips,
  /// rotating carriers, pairs, fragments, tuning, measured waits, or weights on a GPU.
  std::optional<double> patience = std::nullopt;
  double quorum = 0.5;             ///< more than 0, at most 1
  bool nodes_count_alike = false;  ///< equal weights of nodes in the mean; if false, their numbers of ranks
  /// Wire of weights between nodes in the cycle: float32, or a narrower one for their change since the last mean, with
  /// a seventh of the bytes in int4 and float4. The wire of gradients is an option of the replica.
  Wire wire = Wire::float32;
  std::optional<double> max_norm = std::nullopt;  ///< clips the averaged gradients to this 2-norm
  /// Adapts interval, wire and merge rule, starting from those of the options. Not with local skips or rotating
  /// carriers.
  std::optional<TuningOptions> tuning = std::nullopt;
  /// The scaler of a training in float16; it must outlive DASO. A node skips a batch whose gradients overflow. Not with
  /// local skips.
  GradScaler* scaler = nullptr;
};
/// Throws ValueError for options out of range.
void check(const DasoOptions& options);

}  // namespace heatpp::nn
