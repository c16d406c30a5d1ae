#pragma once

#include <heatpp_nn/data/data_loader.hpp>
#include <heatpp_nn/optim/learning_rate.hpp>
#include <heatpp_nn/parallel/daso.hpp>
#include <heatpp_nn/losses/losses.hpp>

namespace heatpp::nn {

/// How long a training is, in batches.
struct TrainingLength {
  std::int64_t epoch = 0;  ///< of an epoch
  std::int64_t total = 0;  ///< of all epochs
};

/// The learning rate of a training: a number, a schedule, or a function of the training's length that makes one.
class TrainingRate {
 public:
  TrainingRate() = default;
  template <class F>
  requires(!std::same_as<F, TrainingRate>) TrainingRate(F rate) {  // NOLINT: conversion intended
    if constexpr (std::is_invocable_r_v<RateSchedule, F&, const TrainingLength&>) {
      make_ = std::move(rate);
    } else if constexpr (std::is_arithmetic_v<F>) {
      make_ = [schedule = constant_rate(rate)](const TrainingLength&) { return schedule; };
    } else {
      static_assert(std::is_invocable_r_v<double, F&, std::int64_t>,
                    "a rate is a number, a function of the batch, or one of TrainingLength that gives a RateSchedule");
      make_ = [schedule = RateSchedule(std::move(rate))](const TrainingLength&) { return schedule; };
    }
  }

  explicit operator bool() const { return static_cast<bool>(make_); }
  [[nodiscard]] RateSchedule operator()(const TrainingLength& length) const { return make_(length); }

 private:
  std::function<RateSchedule(const TrainingLength&)> make_;
};

/// Shares of a training with DASO in which all ranks are in step.
struct PhaseShares {
  double warmup = 0, cooldown = 0;
};

/// How a network is trained.
struct TrainerOptions {
  std::int64_t epochs = 1;
  /// Rows of all ranks together; each rank has as many of them, and at least one. All rows or more are one batch with
  /// `join`, however many each rank has: for LBFGS, say.
  std::int64_t batch_size = 32;
  Shuffle shuffle = Shuffle::local;
  std::uint64_t seed = 0;
  /// Rows that do not fill a batch on every rank. `join` uses each row once, in smaller batches, which plain BatchNorm
  /// does not take where a rank has one row: `drop` or `pad` then.
  Remainder remainder = Remainder::join;
  std::vector<Transform> transforms = {};             ///< of training rows
  std::vector<Transform> evaluation_transforms = {};  ///< of validation rows, and of those of `evaluate`
  PrefetchOptions prefetch = {};                      ///< of training rows
  /// Options of a loss that is given by its name.
  std::optional<LossOptions> loss_options = std::nullopt;
  /// The loss has to return its weight beside its value (`LossValue`). One that does without this is taken as well.
  bool loss_returns_weight = false;
  /// The learning rate at each batch, of which an optimizer's groups have shares as at the Trainer's construction
  /// (`GroupRates`); none: what the optimizer has.
  TrainingRate rate = {};
  /// Trains by DASO instead of averaging gradients over all ranks. Its phases, where they are not set, are `phases`; it
  /// reviews the loss once an epoch at least, unless it tunes itself.
  std::optional<DasoOptions> daso = std::nullopt;
  PhaseShares phases = {};
  /// Computes forward in bfloat16, or in float16 with scaled losses (`Autocast`, `GradScaler`).
  std::optional<Dtype> autocast = std::nullopt;
  std::optional<double> max_norm = std::nullopt;  ///< clips the averaged gradients to this 2-norm
  /// Evaluates and saves a running mean of the weights, of which this share is kept at every batch (0.999, say), and
  /// leaves it in the network after `fit`. Checkpoints have both.
  std::optional<double> ema = std::nullopt;
  Metrics metrics = {};  ///< of validation rows, beside the loss
  /// Ends the training when the validation loss gets no better: the mode has to be `min`. A training that was ended so
  /// goes on where a resumption asks for more patience, or for none of it.
  std::optional<PlateauOptions> stop = std::nullopt;
  /// Where checkpoints (`CheckpointManager`), the weights with the least validation loss (best.safetensors), log.csv
  /// and TensorBoard's events go; made where it is missing. Empty: nothing is written.
  std::filesystem::path folder = {};
  /// Go on from the folder's newest checkpoint, if there is one, with the options of the program, also those of its
  /// optimizer; with another `seed` from the next epoch on.
  bool resume = false;
  std::int64_t keep = 2;              ///< checkpoints that stay
  std::int64_t checkpoint_every = 0;  ///< batches, beside the end of every epoch; 0: no more than that
  bool progress = true;               ///< shows a progress bar on rank 0
};

/// What an epoch has come to.
struct EpochResult {
  std::int64_t epoch = 0;
  double loss = 0;  ///< the mean over all rows that were trained, by the loss's weights
  std::optional<Evaluation> validation = std::nullopt;
};

/// Why a training has ended.
enum class Ended {
  complete,  ///< all epochs are done
  early,     ///< the validation loss got no better
  signal     ///< SIGTERM or SIGUSR1 came; the checkpoint is written
};

struct TrainingResult {
  std::vector<EpochResult> epochs = {};  ///< since the beginning or the resumption
  Ended ended = Ended::complete;
  std::int64_t batches = 0;  ///< done in all, those before a resumption included
};

/// The loop around a training: it goes through the batches, averages gradients or drives DASO, sets rates, evaluates,
/// writes checkpoints, logs and stops. A training that is interrupted, by a signal or otherwise, and resumed has the
/// same bits as one that was not, at any batch. On other ranks or in batches of another size it goes on with the rows
/// of the epoch that are left, as DistributedSampler::from says, and rates and phases are made for what that makes of
/// its length. While it trains, what LibTorch draws, as for dropout, differs between ranks:
///     ht::nn::DataParallelMultiGPU model(std::make_shared<Net>(), ht::Topology(ht::world()));
///     torch::optim::Adam adam(model.parameters(), 1e-3);
///     ht::nn::Trainer trainer(model, adam, loss, {.epochs = 10, .batch_size = 256, .folder = "out", .resume = true});
///     const auto result = trainer.fit(training, validation);
///     const auto outputs = trainer.predict(x);
/// Every loop of one's own does the same with the same parts.
class Trainer {
 public:
  /// `model` and `optimizer`, which has the model's parameters, must outlive this object. Its functions compute on the
  /// share of this machine's cores that a rank has, unless OMP_NUM_THREADS is set. Collective. Throws ValueError on all
  /// ranks for options out of range, and for those other than `prefetch`, the transforms and `progress` that differ
  /// between ranks.
  template <class Net>
  Trainer(detail::TypedReplica<Net>& model, torch::optim::Optimizer& optimizer, Loss loss, TrainerOptions options = {})
      : Trainer(Network(model), optimizer, std::move(loss), std::move(options)) {}
  Trainer(Network network, torch::optim::Optimizer& optimizer, Loss loss, TrainerOptions options = {});
  /// With a loss by its name, as `named_loss`, and `loss_options`.
  template <class Net>
  Trainer(detail::TypedReplica<Net>& model, torch::optim::Optimizer& optimizer, const char* loss,
          TrainerOptions options = {})
      : Trainer(Network(model), optimizer, loss, std::move(options)) {}
  Trainer(const Network& network, torch::optim::Optimizer& optimizer, const char* loss, TrainerOptions options = {});
  ~Trainer();
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;

  /// Trains. Unless `remainder` says otherwise, all rows are used once in an epoch: batches at its end are smaller,
  /// also empty on some ranks, and gradients weigh by rows. Each epoch begins with `train()` for the module and all its
  /// parts, so that a part that is to stay in eval mode has to override that, and ends with the same weights and
  /// buffers on all ranks. Collective. Throws on all ranks: CommError for datasets on other ranks than the model's;
  /// ValueError for an epoch in which the loss has no weight, for an empty validation set, for none with `stop`, for
  /// one of other fields than the training set where there are several, for an optimizer that differs between ranks in
  /// class or options or has tensors that are not the model's, for LBFGS with smaller batches than all rows or with a
  /// folder, and for rates that do at the first batch, the last or halfway; and as DataLoader, DASO, load_checkpoint
  /// and save_checkpoint. What a loss or the network throws on one rank while it is trained ends the job if `ht::run`
  /// started it; LibTorch's errors come as Error, without its stack.
  TrainingResult fit(const Dataset& training, const std::optional<Dataset>& validation = std::nullopt);

  /// The weights and buffers that a running mean stands in the place of since `fit`, by name; without one, those of the
  /// network. Local.
  [[nodiscard]] std::map<std::string, at::Tensor> raw_weights() const;
  /// Puts them into the network again, as `fit` does before it goes on, unless it was given others meanwhile.
  /// Collective.
  void restore_raw_weights();

  /// With the running mean of the weights where the options have one. Rows to predict are as the network takes them.
  /// Collective. See evaluate and predict.
  [[nodiscard]] Evaluation evaluate(const Dataset& dataset);
  [[nodiscard]] DNDarray predict(const DNDarray& x);
  /// Of networks of several inputs or outputs.
  [[nodiscard]] std::vector<DNDarray> predict(const std::vector<DNDarray>& inputs);

  /// What drives the nodes, from the first `fit` on where the options say so, else nullptr.
  [[nodiscard]] const DASO* daso() const;

 private:
  struct Impl;
  class Fit;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heatpp::nn
