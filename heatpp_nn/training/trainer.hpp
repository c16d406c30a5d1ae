#pragma once

#include <heatpp_nn/data/data_loader.hpp>
#include <heatpp_nn/optim/learning_rate.hpp>
#include <heatpp_nn/parallel/daso.hpp>
#include <heatpp_nn/losses/losses.hpp>

namespace heatpp::nn {

/// The length of a training, in batches.
struct TrainingLength {
  std::int64_t epoch = 0;  ///< batches of an epoch
  std::int64_t total = 0;  ///< batches of all epochs
};

/// What TrainingRate can be made of: a number, a function of the batch, or one of TrainingLength that returns a
/// RateSchedule.
template <class F>
concept MakesRate = std::is_arithmetic_v<F> || std::is_invocable_r_v<RateSchedule, F&, const TrainingLength&> ||
    std::is_invocable_r_v<double, F&, std::int64_t>;

/// The learning rate of a training: a number, a schedule, or a function that makes one for the training's length.
class TrainingRate {
 public:
  TrainingRate() = default;
  template <MakesRate F>
  TrainingRate(F rate) {  // NOLINT: conversion intended
    if constexpr (std::is_invocable_r_v<RateSchedule, F&, const TrainingLength&>) make_ = std::move(rate);
    else if constexpr (std::is_arithmetic_v<F>)
      make_ = [schedule = constant_rate(rate)](const TrainingLength&) { return schedule; };
    else make_ = [schedule = RateSchedule(std::move(rate))](const TrainingLength&) { return schedule; };
  }

  explicit operator bool() const { return static_cast<bool>(make_); }
  [[nodiscard]] RateSchedule operator()(const TrainingLength& length) const { return make_(length); }

 private:
  std::function<RateSchedule(const TrainingLength&)> make_;
};

/// Shares of a training with DASO in which all ranks are synchronised.
struct PhaseShares {
  double warmup = 0, cooldown = 0;
};

/// How a network is trained.
struct TrainerOptions {
  std::int64_t epochs = 1;
  /// Number of rows on all ranks together; each rank gets an equal number, at least one. With `join`, if it is at least
  /// the number of all rows, each rank uses all its rows in one batch, e.g. for LBFGS.
  std::int64_t batch_size = 32;
  Shuffle shuffle = Shuffle::local;
  std::uint64_t seed = 0;
  /// Treatment of rows that do not fill a batch on every rank. `join` uses each row once, in smaller batches. Plain
  /// BatchNorm refuses these if a rank has one row: then use `drop` or `pad`.
  Remainder remainder = Remainder::join;
  std::vector<Transform> transforms = {};             ///< applied to training rows
  std::vector<Transform> evaluation_transforms = {};  ///< applied to validation rows, and to those of `evaluate`
  PrefetchOptions prefetch = {};                      ///< for training rows
  /// Options of a loss that is given by name.
  std::optional<LossOptions> loss_options = std::nullopt;
  /// Requires the loss to return its weight with its value (`LossValue`). If false, both forms are accepted.
  bool loss_returns_weight = false;
  /// The learning rate at each batch. An optimizer's groups get shares of it, as when the Trainer was constructed
  /// (`GroupRates`). None: the optimizer's own rate.
  TrainingRate rate = {};
  /// Trains by DASO instead of averaging gradients over all ranks. If its phases are not set, they follow from
  /// `phases`. It reviews the loss at least once an epoch, unless it tunes itself.
  std::optional<DasoOptions> daso = std::nullopt;
  /// The phases of DASO. They are an error without `daso`, and with one that has phases itself.
  PhaseShares phases = {};
  /// Computes forward in bfloat16, or in float16 with scaled losses (`Autocast`, `GradScaler`).
  std::optional<Dtype> autocast = std::nullopt;
  std::optional<double> max_norm = std::nullopt;  ///< clips the averaged gradients to this 2-norm
  /// Evaluates and saves a running mean of the weights that keeps this share at every batch, e.g. 0.999. `fit` leaves
  /// the mean in the network. Checkpoints contain both.
  std::optional<double> ema = std::nullopt;
  Metrics metrics = {};  ///< metrics of validation rows, in addition to the loss
  /// Ends the training if the validation loss stops improving; the mode must be `min`. A resumption continues an ended
  /// training if it has more patience, or no `stop`.
  std::optional<PlateauOptions> stop = std::nullopt;
  /// Folder for checkpoints (`CheckpointManager`), the weights with the smallest validation loss (best.safetensors),
  /// log.csv and TensorBoard's events. It is created if it does not exist. Empty: nothing is written.
  std::filesystem::path folder = {};
  /// Continues from the folder's newest checkpoint, if there is one, with the options of the program, also those of its
  /// optimizer. Another `seed` takes effect from the next epoch on.
  bool resume = false;
  std::int64_t keep = 2;              ///< number of checkpoints that stay
  std::int64_t checkpoint_every = 0;  ///< in batches, in addition to the end of every epoch; 0: only at the end
  bool progress = true;               ///< shows a progress bar on rank 0
};

/// The results of an epoch.
struct EpochResult {
  std::int64_t epoch = 0;
  double loss = 0;  ///< mean over all trained rows, by the loss's weights
  std::optional<Evaluation> validation = std::nullopt;
};

/// The reason why a training has ended.
enum class Ended {
  complete,  ///< all epochs are done
  early,     ///< the validation loss stopped improving
  signal     ///< SIGTERM or SIGUSR1 arrived; the checkpoint is written
};

struct TrainingResult {
  std::vector<EpochResult> epochs = {};  ///< since the start or the resumption
  Ended ended = Ended::complete;
  std::int64_t batches = 0;  ///< total number done, including those before a resumption
};

/// The training loop: it goes through the batches, averages gradients or drives DASO, sets rates, evaluates, writes
/// checkpoints, logs and stops. A training that is interrupted at any batch, by a signal or otherwise, and resumed has
/// the same bits as one that was not. On other ranks or with another batch size, it continues with the remaining rows
/// of the epoch, as DistributedSampler::from does, and adapts rates and phases to the new length. During the training,
/// LibTorch's random numbers, e.g. for dropout, differ between ranks:
///     ht::nn::DataParallelMultiGPU model(std::make_shared<Net>(), ht::Topology(ht::world()));
///     torch::optim::Adam adam(model.parameters(), 1e-3);
///     ht::nn::Trainer trainer(model, adam, loss, {.epochs = 10, .batch_size = 256, .folder = "out", .resume = true});
///     const auto result = trainer.fit(training, validation);
///     const auto outputs = trainer.predict(x);
/// You can write the same loop from the same parts.
class Trainer {
 public:
  /// `model` and `optimizer`, which has the model's parameters, must outlive this object. The Trainer's functions
  /// compute on this rank's share of the machine's cores, unless OMP_NUM_THREADS is set. Collective. Throws ValueError
  /// on all ranks for options out of range, for losses of different types or names, and for options that differ between
  /// ranks, except `prefetch`, the transforms and `progress`.
  template <class Net>
  Trainer(detail::TypedReplica<Net>& model, torch::optim::Optimizer& optimizer, Loss loss, TrainerOptions options = {})
      : Trainer(Network(model), optimizer, std::move(loss), std::move(options)) {}
  Trainer(Network network, torch::optim::Optimizer& optimizer, Loss loss, TrainerOptions options = {});
  /// Takes a loss by its name, as `named_loss`, and `loss_options`.
  template <class Net>
  Trainer(detail::TypedReplica<Net>& model, torch::optim::Optimizer& optimizer, const char* loss,
          TrainerOptions options = {})
      : Trainer(Network(model), optimizer, loss, std::move(options)) {}
  Trainer(const Network& network, torch::optim::Optimizer& optimizer, const char* loss, TrainerOptions options = {});
  ~Trainer();
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;

  /// Trains. Unless `remainder` says otherwise, each row is used once in an epoch: batches at its end are smaller, or
  /// empty on some ranks, and rows have equal weight. Each epoch begins with `train()` for the module and all its
  /// parts; a part that must stay in eval mode has to override that. It ends with the same weights and buffers on all
  /// ranks. Collective. Throws on all ranks: CommError for datasets on other ranks than the model's; ValueError for an
  /// epoch in which the loss has no weight, for an empty validation set, for none with `stop`, for other fields than
  /// those of the training set if there are several, for an optimizer that differs between ranks in class or options or
  /// has tensors that are not the model's, for LBFGS with a folder or with batches that do not hold all rows, and for
  /// rates that differ at the first, last or middle batch; and as DataLoader, DASO, load_checkpoint and
  /// save_checkpoint. If a loss or network throws on one rank during training, the job ends if `ht::run` started it;
  /// LibTorch's errors become Error, without a stack trace.
  TrainingResult fit(const Dataset& training, const std::optional<Dataset>& validation = std::nullopt);

  /// Returns the weights and buffers, by name. If `fit` left a running mean in the network, returns the weights before
  /// their replacement by the mean. Local.
  [[nodiscard]] std::map<std::string, at::Tensor> raw_weights() const;
  /// Puts these weights into the network again, unless it got others meanwhile. `fit` does so before it continues.
  /// Collective.
  void restore_raw_weights();

  /// Evaluates with the running mean of the weights if the options have one; predict uses it, too. Rows to predict must
  /// be in the form that the network takes. Collective. See evaluate and predict.
  [[nodiscard]] Evaluation evaluate(const Dataset& dataset);
  [[nodiscard]] DNDarray predict(const DNDarray& x);
  /// Predicts with networks of several inputs or outputs.
  [[nodiscard]] std::vector<DNDarray> predict(const std::vector<DNDarray>& inputs);

  /// Returns the object that drives the nodes, after the first `fit` with `daso` in the options, otherwise nullptr.
  [[nodiscard]] const DASO* daso() const;

 private:
  struct Impl;
  class Fit;
  TrainingResult run(Dataset training, std::optional<Dataset> validation);
  std::unique_ptr<Impl> impl_;
};

}  // namespace heatpp::nn
