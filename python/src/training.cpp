#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/models/script_module.hpp>
#include <heatpp_nn/optim/lamb.hpp>
#include <heatpp_nn/optim/lars.hpp>
#include <heatpp_nn/training/detail/trainer_checks.hpp>
#include <heatpp_nn/training/detail/training_archive.hpp>
#include <heatpp_nn/training/safetensors.hpp>
#include <heatpp_nn/training/trainer.hpp>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include "datasets.hpp"
#include "measures.hpp"

#include <algorithm>

// Training of networks that Python has scripted.
// Enums are strings, and results named tuples, as those of generate.py.
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

// Optimizers.

struct Steps {
  double learning_rate, momentum, weight_decay;
};
using Optimizer = std::unique_ptr<torch::optim::Optimizer>;
template <class Options>
concept HasMomentum = requires(Options& options) {
  options.momentum(0.9);
};
template <class Kind, class Options>
Optimizer made(const nn::Replica& model, const Steps& steps) {
  Options options(steps.learning_rate);
  options.weight_decay(steps.weight_decay);
  if constexpr (HasMomentum<Options>) options.momentum(steps.momentum);
  if constexpr (std::is_constructible_v<Kind, const nn::Replica&, Options>)
    return std::make_unique<Kind>(model, options);
  else return std::make_unique<Kind>(model.parameters(), options);
}
struct OptimizerKind {
  const char* name;
  bool with_momentum;
  Optimizer (*make)(const nn::Replica& model, const Steps& steps);
};
template <class Kind, class Options>
constexpr OptimizerKind kind(const char* name) {
  return {name, HasMomentum<Options>, made<Kind, Options>};
}
constexpr OptimizerKind optimizers[] = {kind<torch::optim::SGD, torch::optim::SGDOptions>("sgd"),
                                        kind<torch::optim::Adam, torch::optim::AdamOptions>("adam"),
                                        kind<torch::optim::AdamW, torch::optim::AdamWOptions>("adamw"),
                                        kind<nn::Lars, nn::LarsOptions>("lars"),
                                        kind<nn::Lamb, nn::LambOptions>("lamb")};

Optimizer made_optimizer(const std::string& name, const nn::Replica& model, const Steps& steps) {
  const auto& kind = named<OptimizerKind>("Trainer", optimizers, name);
  if (!(steps.learning_rate >= 0) || !(steps.momentum >= 0) || !(steps.weight_decay >= 0))
    throw ValueError("[Trainer] got learning_rate " + std::to_string(steps.learning_rate) + ", momentum " +
                     std::to_string(steps.momentum) + " and weight_decay " + std::to_string(steps.weight_decay) +
                     "; expected 0 or more");
  if (steps.momentum > 0 && !kind.with_momentum)
    throw ValueError("[Trainer] got momentum for " + name + "; expected it for sgd or lars");
  return kind.make(model, steps);
}

std::optional<nn::DasoOptions> daso_of(const std::optional<std::string>& choice, std::int64_t batches) {
  if (!choice) return std::nullopt;
  if (*choice == "default") return nn::DasoOptions();
  if (*choice == "automatic") return nn::DasoOptions::automatic();
  if (*choice == "published") return nn::DasoOptions::published(batches, {});
  throw ValueError("[Trainer] got daso=\"" + *choice + "\"; expected default, automatic, published or None");
}

class Training;
/// A network that all ranks of a communicator have.
struct Network {
  std::shared_ptr<nn::ScriptModule> module;
  Communicator comm;
  std::shared_ptr<Training*> training = std::make_shared<Training*>(nullptr);  ///< whose replica the network is
};

using LossChoice = std::variant<std::string, const Network*>;
/// A scripted loss gives its value, or value and weight where it is said to.
nn::LossValue value_in(const nn::Tensors& given, bool with_weight) {
  if (given.size() == (with_weight ? 2 : 1))
    return with_weight ? nn::LossValue(given[0], given[1]) : nn::LossValue(given[0]);
  throw ValueError("[Trainer] got a loss of " + std::to_string(given.size()) + " values and loss_returns_weight=" +
                   (with_weight ? "True" : "False") + "; expected the loss alone, or loss and weight with True");
}
nn::Loss loss_of(const LossChoice& choice, const Communicator& comm, const std::optional<LossSettings>& settings,
                 bool with_weight) {
  const auto* scripted = std::get_if<1>(&choice);
  if (!scripted) {
    if (with_weight) throw ValueError("[Trainer] got loss_returns_weight for a loss by its name, which has it anyway");
    return nn::detail::agreed_loss(comm, std::get<0>(choice), loss_options_of(settings));
  }
  if (settings) throw ValueError("[Trainer] got loss_options for a network; expected them for a loss by its name");
  return [script = (*scripted)->module, with_weight](const at::Tensor& outputs, const at::Tensor& targets) {
    return value_in(script->outputs({outputs, targets}), with_weight);
  };
}
/// Ends the training where Python was interrupted: it sees signals only where it is asked.
nn::Loss interruptible(nn::Loss loss) {
  return [loss = std::move(loss)](const nn::Tensors& outputs, const nn::Tensors& targets) {
    {
      const nb::gil_scoped_acquire python;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    return loss(outputs, targets);
  };
}

/// The levels of a communicator's machine. They stay until the end, since garbage collection does not run on all ranks
/// together.
const Topology& topology_of(const Communicator& comm) {
  static auto& known = *new std::vector<std::pair<Communicator, Topology>>();
  for (const auto& [of, topology] : known)
    if (of == comm) return topology;
  return known.emplace_back(comm, Topology(comm)).second;
}

/// A training: the network's replica, its optimizer and the loop around them. One replica at a time takes a network's
/// gradients: a training that goes on after another one of the network, or after an error, makes its own again.
class Training {
 public:
  Training(Network network, const LossChoice& loss, const std::optional<LossSettings>& loss_settings,
           const std::string& optimizer, const Steps& steps, std::optional<std::string> daso,
           nn::TrainerOptions options)
      : turn_{this, std::move(network), {}},
        optimizer_(made_optimizer(optimizer, replica(), steps)),
        loss_(interruptible(loss_of(loss, turn_.network.comm, loss_settings, options.loss_returns_weight))),
        asked_(nn::detail::options_of(*optimizer_)),
        daso_(std::move(daso)),
        options_(std::move(options)) {
    static_cast<void>(daso_of(daso_, 1));
    loop();
  }
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  ~Training() = default;

  nn::TrainingResult fit(const nn::Dataset& training, const std::optional<nn::Dataset>& validation) {
    options_.daso = daso_of(daso_, (training.size() + options_.batch_size - 1) / options_.batch_size);
    if (loop_) loop_->restore_raw_weights();
    loop_.reset();
    nn::detail::set_options(*optimizer_, asked_);  // which a schedule has changed
    try {
      return loop().fit(training, validation);
    } catch (...) {
      release();
      throw;
    }
  }
  nn::Evaluation evaluate(const nn::Dataset& dataset) { return loop().evaluate(dataset); }
  std::vector<DNDarray> predict(const std::vector<DNDarray>& inputs) { return loop().predict(inputs); }
  std::map<std::string, at::Tensor> raw_weights() { return loop().raw_weights(); }

 private:
  using Replica = nn::DataParallelMultiGPU<nn::ScriptModule>;
  /// Ends with the training, also where this cannot be made.
  struct Turn {
    Training* of;
    Network network;
    std::optional<Replica> replica;  // always here, where optimizers look for it
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
    return turn_.replica.emplace(turn_.network.module, topology_of(turn_.network.comm));
  }
  nn::Trainer& loop() {
    auto& replica = this->replica();
    return loop_ ? *loop_ : loop_.emplace(replica, *optimizer_, loss_, options_);
  }
  void release() {
    loop_.reset();
    turn_.end();
  }

  Turn turn_;
  Optimizer optimizer_;
  nn::Loss loss_;
  std::string asked_;  // options of the optimizer
  std::optional<std::string> daso_;
  nn::TrainerOptions options_;
  std::optional<nn::Trainer> loop_;
};

void bind_network(nb::module_& m) {
  nb::class_<Network> c(m, "ScriptModule", "A network that torch.jit.save has written, the same on all ranks.");
  c.def(
      "__init__",
      [](Network* self, const std::filesystem::path& path, std::optional<Communicator> comm, const Device& device,
         const std::string& failure) {
        auto ranks = comm_of(comm);
        all_or_none(ranks, [&] {
          if (!failure.empty())
            throw ValueError("[ScriptModule] got a module that cannot be scripted and written (" + failure +
                             "); expected one that torch.jit.script and torch.jit.save take");
        });
        auto module = std::make_shared<nn::ScriptModule>(path.string(), nn::ScriptModuleOptions{.comm = ranks});
        module->to(detail::to_torch(device));
        new (self) Network{std::move(module), std::move(ranks)};
      },
      Released(), "path"_a, "comm"_a = nb::none(), "device"_a = cpu, "_failure"_a = "",
      "Rank 0 reads the file. Collective.");
  c.def(
      "_state",
      [](const Network& network) {
        nb::dict state;
        const auto& left_out = network.module->not_persistent();
        const auto put = [&](const auto& tensors) {
          for (const auto& item : tensors)
            if (std::ranges::find(left_out, item.key()) == left_out.end())
              state[nb::str(item.key().c_str())] = written<at::Tensor>(item.value().detach().cpu().clone());
        };
        put(network.module->named_parameters());
        put(network.module->named_buffers());
        return state;
      },
      "Parameters and buffers by PyTorch's names, as NumPy arrays. Local.");
  c.def(
      "save",
      [](const Network& network, const std::filesystem::path& path) {
        all_or_none(network.comm, [&] {
          if (network.comm.rank() == 0) network.module->save_script(path.string());
        });
      },
      Released(), "path"_a, "Writes the network for torch.jit.load. Collective.");
  c.def(
      "save_safetensors",
      [](const Network& network, const std::filesystem::path& path) {
        nn::save_safetensors(path.string(), *network.module, {.comm = network.comm});
      },
      Released(), "path"_a, "Writes the weights under PyTorch's names. Collective.");
  c.def(
      "load_safetensors",
      [](const Network& network, const std::filesystem::path& path, bool strict) {
        nn::load_safetensors(path.string(), *network.module, {.strict = strict, .comm = network.comm});
      },
      Released(), "path"_a, "strict"_a = true, "Reads weights that have these names, on all ranks. Collective.");
}

}  // namespace

void bind_training(nb::module_& root) {
  nb::module_ m = root.def_submodule("_nn");  // of which heatpp/nn.py makes heatpp.nn
  bind_datasets(m);
  bind_network(m);
  using Rate = std::function<double(std::int64_t batch, std::int64_t total)>;
  nb::class_<Training> c(m, "Trainer", "The loop around the training of a network on all ranks.");
  c.def(
      "__init__",
      [](Training* self, const Network& network, const LossChoice& loss, const std::string& optimizer,
         double learning_rate, double momentum, double weight_decay, const std::optional<LossSettings>& loss_settings,
         bool loss_returns_weight, std::int64_t epochs, std::int64_t batch_size, std::optional<std::string> daso,
         double warmup, double cooldown, const Rate& rate, const std::vector<std::string>& metrics,
         std::optional<int> patience, nn::Shuffle shuffle, std::uint64_t seed, nn::Remainder remainder,
         std::optional<double> max_norm, std::optional<double> ema, std::optional<Dtype> autocast,
         const std::filesystem::path& folder, bool resume, std::int64_t keep, std::int64_t checkpoint_every,
         bool progress) {
        nn::TrainerOptions options{.epochs = epochs,
                                   .batch_size = batch_size,
                                   .shuffle = shuffle,
                                   .seed = seed,
                                   .remainder = remainder,
                                   .loss_returns_weight = loss_returns_weight,
                                   .phases = {warmup, cooldown},
                                   .autocast = autocast,
                                   .max_norm = max_norm,
                                   .ema = ema,
                                   .metrics = metrics_named(metrics, loss_options_of(loss_settings)),
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
        new (self) Training(network, loss, loss_settings, optimizer, {learning_rate, momentum, weight_decay},
                            std::move(daso), std::move(options));
      },
      Released(), "network"_a, "loss"_a = "cross_entropy", nb::kw_only(), "optimizer"_a = "adam",
      "learning_rate"_a = 1e-3, "momentum"_a = 0.0, "weight_decay"_a = 0.0, "loss_options"_a = nb::none(),
      "loss_returns_weight"_a = false, "epochs"_a = 1, "batch_size"_a = 32, "daso"_a = nb::none(), "warmup"_a = 0.0,
      "cooldown"_a = 0.0, "rate"_a = nb::none(), "metrics"_a = std::vector<std::string>(), "patience"_a = nb::none(),
      "shuffle"_a = nn::Shuffle::local, "seed"_a = 0, "remainder"_a = nn::Remainder::join, "max_norm"_a = nb::none(),
      "ema"_a = nb::none(), "autocast"_a = nb::none(), "folder"_a = "", "resume"_a = false, "keep"_a = 2,
      "checkpoint_every"_a = 0, "progress"_a = true,
      R"(Trains by gradients averaged over all ranks, or by DASO ("default", "automatic", "published") with shares of the
training as warm-up and cool-down. `loss` and `metrics` are cross_entropy, nll, mse, l1, huber, smooth_l1,
binary_cross_entropy (of logits), with `loss_options`, a dict of reduction ("mean", "sum"), ignore_index, class_weights,
label_smoothing, delta and pos_weight; `loss` also a scripted module of outputs and targets, which with
`loss_returns_weight` gives (loss, weight), two scalars, and a metric accuracy. `optimizer` is sgd, adam, adamw,
lars or lamb; `rate(batch, total)` gives the learning rate. `folder` gets checkpoints, the best weights and a log, from
which `resume` goes on; `patience` epochs without a better validation loss end the training. Collective.)");
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
      "_raw_state",
      [](Training& self) {
        nb::dict state;
        for (const auto& [name, tensor] : self.raw_weights())
          state[nb::str(name.c_str())] = written<at::Tensor>(tensor.cpu());
        return state;
      },
      "The weights that a running mean stands in the place of, by name, as NumPy arrays. Local.");
  c.def(
      "predict",
      [](Training& self, const FieldChoice& x) -> std::variant<DNDarray, std::vector<DNDarray>> {
        std::vector<DNDarray> inputs;
        for (const auto& [name, array] : fields_of(x, "")) inputs.push_back(array);
        auto outputs = self.predict(inputs);
        if (outputs.size() == 1) return std::move(outputs.front());
        return outputs;
      },
      Released(), "x"_a, "The network's outputs for rows, cut as these. Several inputs come by name, as to fit.");
}

}  // namespace heatpp::python
