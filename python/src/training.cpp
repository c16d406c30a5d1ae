#include <ATen/ATen.h>

#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/training/detail/training_archive.hpp>
#include <heatpp_nn/training/trainer.hpp>

#include "daso_choices.hpp"
#include "datasets.hpp"
#include "networks.hpp"
#include "optimizers.hpp"

// Training of networks that Python has scripted.
// Enums are strings, and results are named tuples, as in generate.py.
template <>
struct heatpp::python::Names<heatpp::nn::Shuffle> {
  static constexpr const char* values[] = {"none", "local", "blocks", "global"};
  static constexpr auto text = nb::detail::const_name("none | local | blocks | global");
};
template <>
struct nanobind::detail::type_caster<heatpp::nn::Shuffle> : heatpp::python::EnumCaster<heatpp::nn::Shuffle> {};
template <>
struct heatpp::python::Names<heatpp::nn::Remainder> {
  static constexpr const char* values[] = {"drop", "pad", "join"};
  static constexpr auto text = nb::detail::const_name("drop | pad | join");
};
template <>
struct nanobind::detail::type_caster<heatpp::nn::Remainder> : heatpp::python::EnumCaster<heatpp::nn::Remainder> {};
template <>
struct heatpp::python::Names<heatpp::nn::Scope> {
  static constexpr const char* values[] = {"node", "all"};
  static constexpr auto text = nb::detail::const_name("node | all");
};
template <>
struct nanobind::detail::type_caster<heatpp::nn::Scope> : heatpp::python::EnumCaster<heatpp::nn::Scope> {};
template <>
struct heatpp::python::Names<heatpp::nn::Ended> {
  static constexpr const char* values[] = {"complete", "early", "signal"};
  static constexpr auto text = nb::detail::const_name("complete | early | signal");
};
template <>
struct nanobind::detail::type_caster<heatpp::nn::Ended> : heatpp::python::EnumCaster<heatpp::nn::Ended> {};
template <>
struct heatpp::python::Fields<heatpp::nn::Evaluation> {
  static constexpr auto name = "Evaluation";
  static constexpr const char* names[] = {"rows", "loss", "metrics"};
  static auto tie(auto& x) { return std::tie(x.rows, x.loss, x.metrics); }
};
template <>
struct heatpp::python::Fields<heatpp::nn::EpochResult> {
  static constexpr auto name = "EpochResult";
  static constexpr const char* names[] = {"epoch", "loss", "validation"};
  static auto tie(auto& x) { return std::tie(x.epoch, x.loss, x.validation); }
};
template <>
struct heatpp::python::Fields<heatpp::nn::TrainingResult> {
  static constexpr auto name = "TrainingResult";
  static constexpr const char* names[] = {"epochs", "ended", "batches"};
  static auto tie(auto& x) { return std::tie(x.epochs, x.ended, x.batches); }
};

namespace heatpp::python {
namespace {

using Released = nb::call_guard<nb::gil_scoped_release>;

/// Ends the training after an interrupt in Python, which handles signals only when it is asked.
nn::Loss interruptible(nn::Loss loss) {
  return [loss = std::move(loss)](const nn::Tensors& outputs, const nn::Tensors& targets, const nn::Tensors& inputs) {
    {
      const nb::gil_scoped_acquire python;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    return loss(outputs, targets, inputs);
  };
}

/// Returns the levels of a communicator's machine. They exist until the end, because garbage collection does not run on
/// all ranks together.
const Topology& topology_of(const Communicator& comm) {
  static auto& known = *new std::vector<std::pair<Communicator, Topology>>();
  for (const auto& [of, topology] : known)
    if (of == comm) return topology;
  return known.emplace_back(comm, Topology(comm)).second;
}

}  // namespace

/// A training: the network's replica, its optimizer and the loop around them. Only one replica at a time gets a
/// network's gradients. After a training of the same network, or an error, a training makes a new replica.
class Training {
 public:
  struct Choices {
    LossChoice loss;
    std::map<std::string, MeasureChoice> metrics;
    std::string optimizer;
    OptimizerOptions optimizer_options;
    std::vector<ParameterGroup> groups;
    DasoChoice daso;
    nn::ReplicaOptions replica;
  };
  Training(const Network& network, const Choices& choices, nn::TrainerOptions options)
      : turn_{this, network, {}}, replica_(choices.replica), daso_(choices.daso), options_(std::move(options)) {
    const auto& model = replica();
    std::vector<nn::detail::Setting> settings;
    all_or_none(network.comm, [&] {  // what only one rank was given wrongly is an error on all
      make(network, model, choices);
      settings = settings_of(choices);
    });
    nn::detail::check_agreed("Trainer", network.comm, settings, [] {});
    loop();
  }
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  ~Training() = default;

  nn::TrainingResult fit(const nn::Dataset& training, const std::optional<nn::Dataset>& validation) {
    options_.daso = daso_of(daso_, (training.size() + options_.batch_size - 1) / options_.batch_size);
    if (loop_) loop_->restore_raw_weights();
    loop_.reset();
    nn::detail::set_options(*optimizer_, asked_);  // a schedule has changed them
    *fields_ = training.names();
    try {
      return loop().fit(training, validation);
    } catch (...) {
      release();
      throw;
    }
  }
  nn::Evaluation evaluate(const nn::Dataset& dataset) {
    *fields_ = dataset.names();
    return loop().evaluate(dataset);
  }
  /// Also returns the names of the outputs if the network returns a dict.
  std::pair<std::vector<std::string>, std::vector<DNDarray>> predict(const std::vector<DNDarray>& inputs) {
    auto outputs = loop().predict(inputs);
    return {turn_.network.module->output_names(), std::move(outputs)};
  }
  std::map<std::string, at::Tensor> raw_weights() { return loop().raw_weights(); }

 private:
  using Replica = nn::DataParallelMultiGPU<nn::LoadedModule>;

  void make(const Network& network, const Replica& model, const Choices& choices) {
    optimizer_ = made_optimizer(choices.optimizer, model, choices.optimizer_options, choices.groups);
    asked_ = nn::detail::options_of(*optimizer_);
    loss_.emplace(interruptible(loss_of(choices.loss, network, fields_)));
    options_.metrics = metrics_of(choices.metrics, choices.loss.settings, network, fields_);
    options_.daso = daso_of(daso_, 1);  // `fit` knows the number of batches
  }
  /// Returns what the Trainer does not compare itself.
  static std::vector<nn::detail::Setting> settings_of(const Choices& choices) {
    auto settings = python::settings_of(choices.loss);
    settings.push_back({"optimizer", choices.optimizer});
    settings.push_back({"groups", groups_text(choices.groups)});
    return settings;
  }
  /// Ends with the training, also if the replica cannot be made.
  struct Turn {
    Training* of;
    Network network;
    std::optional<Replica> replica;  // at a fixed address, because optimizers refer to it
    ~Turn() { end(); }
    void end() {
      replica.reset();
      if (*network.training == of) *network.training = nullptr;
    }
  };
  Replica& replica() {
    auto& training = *turn_.network.training;
    if (training == this) return *turn_.replica;
    if (training) training->release();
    training = this;
    return turn_.replica.emplace(turn_.network.module, topology_of(turn_.network.comm), replica_);
  }
  nn::Trainer& loop() {
    auto& replica = this->replica();
    return loop_ ? *loop_ : loop_.emplace(replica, *optimizer_, *loss_, options_);
  }
  void release() {
    loop_.reset();
    turn_.end();
  }

  FieldsInUse fields_ = std::make_shared<nn::FieldNames>();
  Turn turn_;
  nn::ReplicaOptions replica_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  std::optional<nn::Loss> loss_;
  std::string asked_;  // options of the optimizer
  DasoChoice daso_;
  nn::TrainerOptions options_;
  std::optional<nn::Trainer> loop_;
};

void bind_training(nb::module_& root) {
  nb::module_ m = root.def_submodule("_nn");  // heatpp/nn.py makes heatpp.nn of it
  bind_datasets(m);
  bind_networks(m);
  using Rate = std::function<double(std::int64_t batch, std::int64_t total)>;
  nb::class_<Training> c(m, "Trainer", "The loop around the training of a network on all ranks.");
  c.def(
      "__init__",
      [](Training* self, const Network& network, const MeasureChoice& loss,
         const std::optional<LossSettings>& loss_settings, bool loss_returns_weight,
         const std::map<std::string, MeasureChoice>& metrics, const std::string& optimizer,
         const OptimizerOptions& optimizer_options,
         const std::vector<std::pair<std::vector<std::string>, OptimizerOptions>>& groups,
         std::optional<nn::Scope> shard, bool shard_weights, std::int64_t epochs, std::int64_t batch_size,
         std::optional<std::string> daso, const DasoSettings& daso_options, double warmup, double cooldown,
         const Rate& rate, const std::vector<TransformChoice>& transforms,
         const std::vector<TransformChoice>& evaluation_transforms, std::optional<int> patience, nn::Shuffle shuffle,
         std::uint64_t seed, nn::Remainder remainder, std::optional<double> max_norm, std::optional<double> ema,
         std::optional<Dtype> autocast, const std::filesystem::path& folder, bool resume, std::int64_t keep,
         std::int64_t checkpoint_every, bool progress) {
        nn::TrainerOptions options{.epochs = epochs,
                                   .batch_size = batch_size,
                                   .shuffle = shuffle,
                                   .seed = seed,
                                   .remainder = remainder,
                                   .transforms = transforms_of(transforms),
                                   .evaluation_transforms = transforms_of(evaluation_transforms),
                                   .loss_returns_weight = loss_returns_weight,
                                   .phases = {warmup, cooldown},
                                   .autocast = autocast,
                                   .max_norm = max_norm,
                                   .ema = ema,
                                   .folder = folder,
                                   .resume = resume,
                                   .keep = keep,
                                   .checkpoint_every = checkpoint_every,
                                   .progress = progress};
        if (rate)
          options.rate = [rate](const nn::TrainingLength& length) {
            return [rate, total = length.total](std::int64_t batch) { return rate(batch, total); };
          };
        if (patience) options.stop = nn::PlateauOptions{.patience = *patience, .threshold = 0};
        Training::Choices choices{{loss, loss_settings, loss_returns_weight},
                                  metrics,
                                  optimizer,
                                  optimizer_options,
                                  {},
                                  {std::move(daso), daso_options},
                                  {.shard = shard, .shard_weights = shard_weights}};
        for (const auto& [patterns, own] : groups) choices.groups.push_back({patterns, own});
        new (self) Training(network, choices, std::move(options));
      },
      Released(), "network"_a, "loss"_a, nb::kw_only(), "loss_options"_a, "loss_returns_weight"_a, "metrics"_a,
      "optimizer"_a, "optimizer_options"_a, "groups"_a, "shard"_a = nb::none(), "shard_weights"_a = false,
      "epochs"_a = 1, "batch_size"_a = 32, "daso"_a = nb::none(), "daso_options"_a = DasoSettings(), "warmup"_a = 0.0,
      "cooldown"_a = 0.0, "rate"_a = nb::none(), "transforms"_a = std::vector<TransformChoice>(),
      "evaluation_transforms"_a = std::vector<TransformChoice>(), "patience"_a = nb::none(),
      "shuffle"_a = nn::Shuffle::local, "seed"_a = 0, "remainder"_a = nn::Remainder::join, "max_norm"_a = nb::none(),
      "ema"_a = nb::none(), "autocast"_a = nb::none(), "folder"_a = "", "resume"_a = false, "keep"_a = 2,
      "checkpoint_every"_a = 0, "progress"_a = true);
  c.def("fit", &Training::fit, Released(), "training"_a, "validation"_a = nb::none(),
        "Trains on a Dataset, an (inputs, targets) pair, or both as arguments; all rows are used once in an epoch. "
        "Collective.");
  c.def(
      "fit",
      [](Training& self, const FieldChoice& inputs, const FieldChoice& targets,
         const std::optional<nn::Dataset>& validation) { return self.fit(dataset_of(inputs, targets), validation); },
      Released(), "inputs"_a, "targets"_a, "validation"_a = nb::none());
  c.def("evaluate", &Training::evaluate, Released(), "dataset"_a,
        "Mean loss and metrics over all rows of what fit takes. Collective.");
  c.def(
      "evaluate",
      [](Training& self, const FieldChoice& inputs, const FieldChoice& targets) {
        return self.evaluate(dataset_of(inputs, targets));
      },
      Released(), "inputs"_a, "targets"_a);
  c.def(
      "_predict",
      [](Training& self, const FieldChoice& x) {
        std::vector<DNDarray> inputs;
        for (const auto& [name, array] : fields_of(x, "")) inputs.push_back(array);
        return self.predict(inputs);
      },
      Released(), "x"_a);
  c.def(
      "_raw_state",
      [](Training& self) {
        nb::dict state;
        for (const auto& [name, tensor] : self.raw_weights())
          state[nb::str(name.c_str())] = written<at::Tensor>(tensor.cpu());
        return state;
      },
      "The weights that a running mean stands in the place of, by name, as NumPy arrays. Local.");
  m.def(
      "_add_up", [](const DNDarray& x) { x.comm().allreduce(detail::buffer_of(x.larray())); }, Released(), "x"_a,
      "Replaces the blocks of all ranks by their sum. Collective.");
}

}  // namespace heatpp::python
