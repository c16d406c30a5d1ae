#pragma once

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/logging/progress_bar.hpp>
#include <heatpp_nn/parallel/detail/optimizer_state.hpp>
#include <heatpp_nn/parallel/sync_batch_norm.hpp>
#include <heatpp_nn/training/checkpoint_manager.hpp>
#include <heatpp_nn/training/detail/closure.hpp>
#include <heatpp_nn/training/detail/explained.hpp>
#include <heatpp_nn/training/detail/fit/impl.hpp>
#include <heatpp_nn/losses/detail/loss_sums.hpp>
#include <heatpp_nn/training/detail/rank_random.hpp>
#include <heatpp_nn/training/detail/remaining/remaining.hpp>
#include <heatpp_nn/training/detail/settings.hpp>
#include <heatpp_nn/training/detail/trainer_checks.hpp>
#include <heatpp_nn/training/detail/training.hpp>
#include <heatpp_nn/training/detail/training_archive.hpp>
#include <heatpp_nn/training/detail/training_log.hpp>
#include <heatpp_nn/losses/detail/weighed_loss.hpp>
#include <heatpp_nn/training/metrics.hpp>
#include <heatpp_nn/training/safetensors.hpp>
#include <heatpp_nn/training/stop_signal.hpp>

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <cmath>
#include <limits>

namespace heatpp::nn {

using heatpp::detail::formatted;
using heatpp::detail::raise;

/// One call of `fit`, on the same ranks from its start to its end.
class Trainer::Fit {
 public:
  /// How far a rank is when others end.
  struct Reached {
    Position position;
    std::int64_t rows;       // of the dataset to which the position belongs
    detail::LoopState loop;  // with this rank's own losses
    TrainingResult result;

    void move_to(std::int64_t remaining) {
      position = detail::position_among(position, rows, remaining);
      rows = remaining;
    }

    /// Continues on the remaining ranks. Returns what the one that is least far has reached.
    [[nodiscard]] Reached continued(const detail::Training& training) const {
      const auto resumed = detail::continue_without_lost(
          training, position, {{"trainer", detail::to_tensor(loop)}, {"rows", at::scalar_tensor(rows, at::kLong)}});
      Reached there{resumed.position, resumed.extras.at("rows").item<std::int64_t>(),
                    detail::loop_state(resumed.extras.at("trainer")).value(), result};
      there.loop.losses = loop.losses;
      std::erase_if(there.result.epochs, [&](const auto& done) { return done.epoch >= there.position.epoch; });
      return there;
    }
  };

  /// `from`: continues there, with the DASO and the running mean that the trainer has.
  Fit(Trainer::Impl& trainer, const Dataset& training, const std::optional<Dataset>& validation,
      const std::optional<Reached>& from)
      : trainer_(trainer),
        options_(trainer.options),
        validation_(validation),
        loader_(training,
                {.batch_size = detail::rows_of_batch(options_, training.size(), trainer.comm().size()),
                 .shuffle = options_.shuffle,
                 .seed = options_.seed,
                 .remainder = options_.remainder},
                options_.transforms),
        length_{loader_.batches(), options_.epochs * loader_.batches()},
        signal_(trainer.comm()),
        early_(options_.stop.value_or(PlateauOptions{.patience = std::numeric_limits<int>::max(), .threshold = 0})),
        random_(trainer.comm(), trainer.network.device()),
        position_{options_.seed, 0, 0} {
    if (detail::steps_by_closure(trainer_.optimizer)) detail::check_closure(replica(), options_, loader_.batches());
    loader_.prefetch(options_.prefetch);
    if (!from) make_parts();
    if (!options_.folder.empty())
      checkpoints_.emplace(options_.folder, trainer_.comm(), CheckpointManagerOptions{.keep = options_.keep});
    if (from) continue_from(*from);
    else if (options_.resume) resume();
    if (options_.rate) rate_ = options_.rate(length_);
    detail::check_rate(trainer_.comm(), rate_, length_.total);
    if (options_.folder.empty()) return;
    (void)detail::name_of(trainer_.optimizer);  // checkpoints need it; throws if it is unknown
    std::vector<std::string> names;
    for (const auto& [name, metric] : options_.metrics) names.push_back(name);
    log_.emplace(trainer_.comm(), options_.folder, names, static_cast<double>(batch_ + 1));
  }

  TrainingResult run() {
    while (position_.epoch < options_.epochs && !early_.state().stopped) {
      const bool whole = train_epoch();
      write_batches();
      whole ? end_epoch() : save();
      if (!whole || (position_.epoch < options_.epochs && is_told_to_stop())) {
        result_.ended = Ended::signal;
        break;
      }
    }
    replica().weigh_buffers(std::nullopt);
    if (early_.state().stopped) result_.ended = Ended::early;
    if (checkpoints_) checkpoints_->finish();
    if (log_) log_->draw(trainer_.daso.get(), batch_);
    if (trainer_.mean) trainer_.mean->show();
    result_.batches = batch_;
    return result_;
  }

  [[nodiscard]] Reached reached() const {
    return {position_, loader_.sampler().extent(), loop(losses_.own()), result_};
  }

 private:
  [[nodiscard]] Replica& replica() const { return trainer_.replica(); }
  [[nodiscard]] GradScaler* scaler() const { return trainer_.scaler ? &*trainer_.scaler : nullptr; }
  [[nodiscard]] std::string file(const char* name) const { return (options_.folder / name).string(); }
  /// Whether ranks have trained independently, by node or within a node.
  [[nodiscard]] bool apart() const {
    return trainer_.daso && (trainer_.daso->nodes() > 1 || !trainer_.daso->keeps_nodes_equal());
  }

  void make_parts() {
    if (options_.autocast == float16) trainer_.scaler.emplace();
    make_daso();
    if (options_.ema) trainer_.mean = std::make_unique<detail::WeightMean>(replica(), *options_.ema);
  }

  void make_daso() {
    if (options_.daso)
      trainer_.daso =
          std::make_unique<DASO>(replica(), trainer_.optimizer, detail::daso_options(options_, length_, scaler()));
  }

  /// Returns false if a signal has arrived.
  bool train_epoch() {
    const auto rest = loader_.epoch(position_);
    replica().weigh_buffers(detail::rows_of_rank(loader_));
    ProgressBar bar(trainer_.comm(), {.total = loader_.batches(),
                                      .label = formatted("epoch {}/{}", position_.epoch + 1, options_.epochs)});
    replica().shared_module()->train();
    ahead_ = trainer_.daso ? trainer_.daso->batch() - batch_ : 0;
    for (const auto& batch : rest) {
      const auto loss = is_skipped() ? skip_batch() : train_batch(batch);
      position_ = loader_.position();
      ++batch_;
      if (options_.progress) bar.update(loader_.sampler().total(position_.batch - 1), loss);
      const bool last = position_.batch == loader_.batches();
      if (!last && options_.checkpoint_every > 0 && batch_ % options_.checkpoint_every == 0) save();
      if (!last && asks() && is_told_to_stop()) return false;
    }
    if (options_.progress) bar.finish();
    return true;
  }

  bool is_told_to_stop() {
    if (checkpoints_) checkpoints_->advance();
    return signal_.agreed();
  }

  /// Whether ranks ask each other for signals and written checkpoints. Independent nodes do so less often.
  [[nodiscard]] bool asks() const {
    if (trainer_.daso && trainer_.daso->patience()) return false;  // only at the end of an epoch
    return !trainer_.daso || trainer_.daso->phase() != Phase::cycle || batch_ % 4 == 0;
  }

  /// Whether other nodes have gone on without this one, which was late.
  [[nodiscard]] bool is_skipped() const { return trainer_.daso && trainer_.daso->batch() > batch_ + ahead_; }
  double skip_batch() { return losses_.add(0, 0), 0.0; }

  /// Returns this rank's loss, or 0 without rows.
  double train_batch(const Batch& batch) {
    if (rate_) trainer_.rates->set(trainer_.optimizer, rate_(batch_));
    const bool by_closure = detail::steps_by_closure(trainer_.optimizer);
    const auto work = [&] { return differentiate(batch); };
    const auto loss =
        by_closure ? detail::step_by_closure(replica(), trainer_.optimizer, options_.max_norm, work) : work();
    if (!by_closure) step(loss.value);
    if (trainer_.mean) trainer_.mean->update(trainer_.training().alike());
    losses_.add(loss.value, loss.weight);
    return loss.value;
  }

  /// Computes the gradients of a batch.
  detail::WeighedLoss differentiate(const Batch& batch) {
    trainer_.optimizer.zero_grad();
    const bool norms = has_synchronised_norms(*replica().shared_module());
    const bool keeps = !norms && !trainer_.daso && !detail::steps_by_closure(trainer_.optimizer);
    detail::WeighedLoss loss;
    together(keeps, [&] { loss = batch.inputs.size(0) > 0 || norms ? loss_of(batch) : detail::WeighedLoss(); });
    if (error_) loss = {.loss = error_.loss(*replica().shared_module()), .weight = 1};
    const auto scaled = loss.loss.defined() && scaler() ? scaler()->scale(loss.loss) : loss.loss;
    const auto of_all = scaler() ? replica().sum_over_scope(loss.weight) : rows_of_all();
    if (loss.is_sum) replica().backward_sum(scaled, loss.weight);
    else if (norms || scaler()) replica().backward(scaled, loss.weight, of_all);
    else replica().backward(scaled, loss.weight);
    return loss;
  }

  /// Returns the number of the current batch.
  [[nodiscard]] std::int64_t number() const { return loader_.position().batch - 1; }
  [[nodiscard]] double rows_of_all() const { return static_cast<double>(loader_.sampler().total(number())); }

  /// BatchNorm refuses one row, even if only one rank has one. So all ranks agree on the first batch with such a rank.
  /// Other errors are kept until all ranks learn of them by gradients, if no rank waits for this one before.
  void together(bool keeps, const std::function<void()>& work) {
    if (takes_one_row_ || !loader_.sampler().any_has(1, number())) return keeps ? error_.during(work) : work();
    all_or_none(trainer_.comm(), work);
    takes_one_row_ = true;
  }

  /// Returns the loss of a batch. If its weight is 0, returns one that depends on all outputs: other ranks wait for
  /// this one in layers that normalise over all ranks.
  detail::WeighedLoss loss_of(const Batch& batch) {
    std::optional<Autocast> autocast;
    if (options_.autocast) autocast.emplace(*options_.autocast, trainer_.network.device());
    const auto& network = trainer_.network;
    const auto outputs = detail::trained_outputs(network, batch);
    if (batch.inputs.size(0) > 0) {
      const auto found =
          trainer_.loss_of(outputs, network.on_device(batch.all_targets()), network.on_device(batch.all_inputs()));
      detail::check_differentiable("Trainer", found.value, "the network's outputs and the targets");
      auto loss = detail::weighed("Trainer", found, static_cast<double>(batch.inputs.size(0)));
      if (loss.weight > 0) return loss;
    }
    auto sum = at::zeros({}, outputs.front().options());
    for (const auto& output : outputs) sum = sum + output.sum();
    return {.loss = sum};
  }

  void step(double loss) {
    if (trainer_.daso) return trainer_.daso->step(loss);
    const bool finite = scaler() ? scaler()->finish(replica()) : replica().finish_gradients();
    finite ? error_.throw_own() : error_.throw_of_any(trainer_.comm());
    if (!finite) return scaler() ? void() : replica().throw_not_finite("Trainer");
    if (options_.max_norm) (void)replica().clip_gradients(*options_.max_norm);
    replica().update(trainer_.optimizer);
  }

  void end_epoch() {
    make_equal();
    const auto all = losses_.epoch(trainer_.comm());
    if (all.weight == 0) detail::throw_nothing_counts("fit");
    EpochResult result{.epoch = position_.epoch, .loss = all.sum / all.weight};
    if (validation_) validate(result);
    position_ = {options_.seed, position_.epoch + 1, 0};
    losses_.begin();
    result_.epochs.push_back(result);
    if (log_) log_->epoch(batch_, result);  // before the checkpoint: a resumption drops later rows of the log
    save();
  }

  /// Averages what ranks train or keep independently, so that a row gets the same outputs on all ranks.
  void make_equal() {
    if (trainer_.daso) trainer_.daso->drain();
    else replica().average_buffers();
    if (trainer_.mean) trainer_.mean->agree(apart());
  }

  void validate(EpochResult& result) {
    const detail::WeightMean::InPlace mean(trainer_.mean.get());
    result.validation = trainer_.evaluate(*validation_);
    early_.update(result.validation->loss);
    if (!(result.validation->loss < least_)) return;
    least_ = result.validation->loss;
    if (log_) save_safetensors(file("best.safetensors"), *replica().shared_module(), {.comm = trainer_.comm()});
  }

  void write_batches() {
    const auto means = losses_.take_batches(trainer_.comm());
    if (log_) log_->batches(batch_ - std::ssize(means), means, rate_);
  }

  void save() {
    if (options_.folder.empty()) return;
    const auto state = loop(losses_.epoch(trainer_.comm()));  // other ranks may continue with it
    checkpoints_->save(batch_, trainer_.training(), position_, {{"trainer", detail::to_tensor(state)}});
  }

  /// Loads the newest checkpoint, but keeps the optimizer's options of the program, which may differ from the file's.
  std::optional<Resumed> newest() {
    const auto asked = detail::options_of(trainer_.optimizer);
    auto resumed = checkpoints_->resume(trainer_.training());
    detail::set_options(trainer_.optimizer, asked);
    return resumed;
  }

  void resume() {
    const auto resumed = newest();
    if (!resumed) return;
    position_ = resumed->position;
    if (!position_.rows) position_.batch = std::min(position_.batch, length_.epoch);
    if (position_.batch == 0) position_.seed = options_.seed;  // an epoch that has begun keeps its order
    const auto found = resumed->extras.find("trainer");
    const auto state = detail::loop_state(found == resumed->extras.end() ? at::Tensor() : found->second);
    if (!state)
      raise<IoError>("Trainer", "got a checkpoint in \"{}\" that no Trainer wrote; expected one",
                     options_.folder.string());
    if (trainer_.comm().rank() == 0) losses_.begin(state->losses);
    set_loop(*state);
    if (!fit_length()) return;
    make_daso();
    (void)newest();
  }

  /// Continues with equal weights on all ranks.
  void continue_from(const Reached& from) {
    position_ = from.position;
    result_ = from.result;
    losses_.begin(from.loop.losses);
    set_loop(from.loop);
    if (!fit_length()) return;
    auto state = trainer_.daso->state();
    make_daso();
    trainer_.daso->join_state(std::move(state));
  }

  [[nodiscard]] detail::LoopState loop(const detail::EpochLoss& losses) const {
    return {.losses = losses,
            .batch = batch_,
            .early = early_.state(),
            .scale = scaler() ? scaler()->state() : GradScaler::State{},
            .least = least_};
  }

  void set_loop(const detail::LoopState& state) {
    batch_ = state.batch;
    early_.set_state(detail::going_on(state.early, options_.stop));
    if (!std::isnan(state.least)) least_ = state.least;
    if (scaler()) scaler()->set_state(state.scale);
  }

  /// Sets the length to the batches done plus those left, if batches had another size. Returns whether DASO's phases
  /// must be made for it.
  [[nodiscard]] bool fit_length() {
    const auto left = loader_.sampler().from(position_).batches() - position_.batch;
    const auto total = batch_ + left + (options_.epochs - position_.epoch - 1) * length_.epoch;
    if (total == length_.total || position_.epoch >= options_.epochs) return false;
    length_.total = total;
    return options_.daso.has_value();
  }

  Trainer::Impl& trainer_;
  const TrainerOptions& options_;
  std::optional<Dataset> validation_;
  DataLoader loader_;
  TrainingLength length_;
  RateSchedule rate_;
  StopSignal signal_;
  EarlyStopping early_;
  detail::RankRandom random_;
  double least_ = std::numeric_limits<double>::infinity();  // smallest validation loss
  std::optional<CheckpointManager> checkpoints_;
  std::optional<detail::TrainingLog> log_;
  Position position_;
  std::int64_t batch_ = 0;      // in the whole training
  std::int64_t ahead_ = 0;      // number of DASO's batch minus that
  bool takes_one_row_ = false;  // whether the network takes a batch of one row on a rank
  detail::KeptError error_;
  detail::LossSums losses_;
  TrainingResult result_;
};

}  // namespace heatpp::nn
