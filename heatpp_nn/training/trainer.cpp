#include <heatpp_nn/training/trainer.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/host/threads.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/detail/in_words.hpp>
#include <heatpp_nn/logging/progress_bar.hpp>
#include <heatpp_nn/parallel/detail/optimizer_state.hpp>
#include <heatpp_nn/parallel/sync_batch_norm.hpp>
#include <heatpp_nn/training/checkpoint_manager.hpp>
#include <heatpp_nn/training/cores.hpp>
#include <heatpp_nn/training/detail/closure.hpp>
#include <heatpp_nn/training/detail/explained.hpp>
#include <heatpp_nn/losses/detail/loss_sums.hpp>
#include <heatpp_nn/training/detail/rank_random.hpp>
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

struct Trainer::Impl {
  Network network;
  torch::optim::Optimizer& optimizer;
  Loss loss;
  TrainerOptions options;
  std::optional<GroupRates> rates = {};  // as they were before a schedule or a checkpoint sets others
  std::unique_ptr<DASO> daso = {};
  std::optional<GradScaler> scaler = {};
  std::unique_ptr<detail::WeightMean> mean = {};
  int threads = 0;  ///< number of threads for the computation in each call

  [[nodiscard]] Replica& replica() const { return network.replica(); }
  [[nodiscard]] const Communicator& comm() const { return replica().topology().comm(); }
  [[nodiscard]] detail::Training training() const { return {replica(), optimizer, daso.get(), mean.get()}; }
  [[nodiscard]] Evaluation evaluate(const Dataset& dataset) const {
    const Loss checked = [this](const Tensors& outputs, const Tensors& targets, const Tensors& inputs) {
      return loss_of(outputs, targets, inputs);
    };
    return nn::evaluate(network, dataset, checked, options.metrics, {.transforms = options.evaluation_transforms});
  }
  [[nodiscard]] LossValue loss_of(const Tensors& outputs, const Tensors& targets, const Tensors& inputs) const {
    auto found = loss(outputs, targets, inputs);
    if (options.loss_returns_weight && !found.weight.defined())
      raise<ValueError>("Trainer", "got a loss without a weight; expected both, or loss_returns_weight = false");
    return found;
  }
};

/// One call of `fit`.
class Trainer::Fit {
 public:
  Fit(Trainer::Impl& trainer, const Dataset& training, const std::optional<Dataset>& validation)
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
    if (options_.autocast == float16) trainer_.scaler.emplace();
    make_daso();
    if (options_.ema) trainer_.mean = std::make_unique<detail::WeightMean>(replica(), *options_.ema);
    if (!options_.folder.empty())
      checkpoints_.emplace(options_.folder, trainer_.comm(), CheckpointManagerOptions{.keep = options_.keep});
    if (options_.resume) resume();
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

 private:
  [[nodiscard]] Replica& replica() const { return trainer_.replica(); }
  [[nodiscard]] GradScaler* scaler() const { return trainer_.scaler ? &*trainer_.scaler : nullptr; }
  [[nodiscard]] std::string file(const char* name) const { return (options_.folder / name).string(); }
  /// Whether ranks have trained independently, by node or within a node.
  [[nodiscard]] bool apart() const {
    return trainer_.daso && (trainer_.daso->nodes() > 1 || !trainer_.daso->keeps_nodes_equal());
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
    if (log_) log_->epoch(batch_, result);  // before the checkpoint: a resumption drops later rows of the log
    save();
    result_.epochs.push_back(std::move(result));
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
    const detail::LoopState state{.losses = losses_.epoch(trainer_.comm()),  // other ranks may continue with it
                                  .batch = batch_,
                                  .early = early_.state(),
                                  .scale = scaler() ? scaler()->state() : GradScaler::State{},
                                  .least = least_};
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
    batch_ = state->batch;
    early_.set_state(detail::going_on(state->early, options_.stop));
    if (!std::isnan(state->least)) least_ = state->least;
    if (scaler()) scaler()->set_state(state->scale);
    fit_length();
  }

  /// Sets the length to the batches done plus those left, if batches had another size, and makes DASO's phases for it.
  void fit_length() {
    const auto left = loader_.sampler().from(position_).batches() - position_.batch;
    const auto total = batch_ + left + (options_.epochs - position_.epoch - 1) * length_.epoch;
    if (total == length_.total || position_.epoch >= options_.epochs) return;
    length_.total = total;
    if (!options_.daso) return;
    make_daso();
    (void)newest();
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

Trainer::Trainer(Network network, torch::optim::Optimizer& optimizer, Loss loss, TrainerOptions options)
    : impl_(new Impl{std::move(network), optimizer, std::move(loss), std::move(options)}) {
  detail::check(impl_->comm(), impl_->loss, impl_->options);
  impl_->threads = share_of_cores(impl_->comm());
  if (impl_->options.rate) impl_->rates.emplace(optimizer);
}

Trainer::Trainer(const Network& network, torch::optim::Optimizer& optimizer, const char* loss, TrainerOptions options)
    : Trainer(network, optimizer, detail::agreed_loss(network.replica().topology().comm(), loss, options.loss_options),
              detail::without_loss_options(options)) {}

Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;

TrainingResult Trainer::fit(const Dataset& training, const std::optional<Dataset>& validation) {
  detail::check_fit(impl_->comm(), impl_->options, training, validation);
  detail::check_optimizer(impl_->replica(), impl_->optimizer);
  const heatpp::detail::ThreadsInScope threads(impl_->threads);
  restore_raw_weights();
  return detail::in_words("fit", [&] { return Fit(*impl_, training, validation).run(); });
}

std::map<std::string, at::Tensor> Trainer::raw_weights() const {
  std::map<std::string, at::Tensor> weights;
  const auto& module = *impl_->replica().shared_module();
  for (const auto& tensors : {module.named_parameters(), module.named_buffers()})
    for (const auto& item : tensors)
      if (item.value().defined())
        weights[item.key()] = (impl_->mean ? impl_->mean->raw(item.value()) : item.value()).detach().clone();
  return weights;
}

void Trainer::restore_raw_weights() {
  if (impl_->mean) impl_->mean->hide();
}

Evaluation Trainer::evaluate(const Dataset& dataset) {
  const heatpp::detail::ThreadsInScope threads(impl_->threads);
  const detail::WeightMean::InPlace mean(impl_->mean.get());
  return impl_->evaluate(dataset);
}

DNDarray Trainer::predict(const DNDarray& x) {
  const heatpp::detail::ThreadsInScope threads(impl_->threads);
  const detail::WeightMean::InPlace mean(impl_->mean.get());
  return nn::predict(impl_->network, x);
}

std::vector<DNDarray> Trainer::predict(const std::vector<DNDarray>& inputs) {
  const heatpp::detail::ThreadsInScope threads(impl_->threads);
  const detail::WeightMean::InPlace mean(impl_->mean.get());
  return nn::predict(impl_->network, inputs);
}

const DASO* Trainer::daso() const { return impl_->daso.get(); }

}  // namespace heatpp::nn
