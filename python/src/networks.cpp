#include "networks.hpp"

#include <ATen/ATen.h>

#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/data/transforms.hpp>
#include <heatpp_nn/training/detail/settings.hpp>
#include <heatpp_nn/training/safetensors.hpp>

#include <algorithm>

template <>
struct heatpp::python::Names<heatpp::nn::Targets> {
  static constexpr const char* values[] = {"together", "stay"};
  static constexpr auto text = nb::detail::const_name("together | stay");
};
template <>
struct nanobind::detail::type_caster<heatpp::nn::Targets> : heatpp::python::EnumCaster<heatpp::nn::Targets> {};

namespace heatpp::python {
namespace {

using Released = nb::call_guard<nb::gil_scoped_release>;

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return "(" + text + ")";
}

/// Throws ValueError unless a scripted function can be called with two tensors or lists of them.
void check_two(const std::string& what, const nn::LoadedModule& script, const std::string& expected) {
  const auto names = script.parameter_names();
  if (names.size() < 2 || script.required_parameters() > 2)
    throw ValueError("[Trainer] got a " + what + " of " + listed(names) + "; expected one of " + expected);
}

/// Throws ValueError unless a scripted function can be called with outputs and targets, or also with inputs, which its
/// third parameter asks for by its name.
void check_measure(const std::string& what, const nn::LoadedModule& script) {
  const auto names = script.parameter_names();
  const auto required = script.required_parameters();
  if (required == 3 && names[2] == "inputs") return;
  if (required == 3)
    throw ValueError("[Trainer] got a " + what + " of " + listed(names) + ", whose third parameter is \"" + names[2] +
                     "\"; expected the name \"inputs\" for what the network was called with, or a default value; the "
                     "first parameter gets the network's outputs and the second the targets, under any names");
  check_two(what, script, "(outputs, targets) or (outputs, targets, inputs)");
}

/// A loss or metric that is a script.
class Scripted {
 public:
  Scripted(const std::string& what, const Network& script, const Network& network, FieldsInUse fields)
      : what_(what), script_(script.module), network_(network.module), fields_(std::move(fields)) {
    check_measure(what, *script_);
    const auto names = script_->parameter_names();
    sees_inputs_ = names.size() > 2 && names[2] == "inputs";
    for (const auto& item : script_->named_parameters())
      if (item.value().requires_grad())
        throw ValueError("[Trainer] got a " + what + " with the parameter " + item.key() +
                         ", which would not be trained; expected it in the network, which gives it as an output");
    script_->to(nn::detail::device_of(*network_));
  }
  nn::Tensors operator()(const nn::Tensors& outputs, const nn::Tensors& targets, const nn::Tensors& inputs) const {
    std::vector<nn::ModuleArgument> arguments{{"outputs", outputs, network_->output_names()},
                                              {"targets", targets, fields_->targets}};
    if (sees_inputs_) arguments.push_back({"inputs", inputs, fields_->inputs});
    return script_->call(arguments, what_).tensors;
  }

 private:
  std::string what_;
  std::shared_ptr<nn::LoadedModule> script_, network_;
  FieldsInUse fields_;
  bool sees_inputs_ = false;
};

/// Returns the value of a scripted loss, or its value and weight if it returns both.
nn::LossValue value_in(const nn::Tensors& given, bool with_weight) {
  if (given.size() == (with_weight ? 2 : 1))
    return with_weight ? nn::LossValue(given[0], given[1]) : nn::LossValue(given[0]);
  throw ValueError("[Trainer] got a loss of " + std::to_string(given.size()) + " values and loss_returns_weight=" +
                   (with_weight ? "True" : "False") + "; expected the loss alone, or loss and weight with True");
}

/// Reads the result of a metric: its value, and its weight if there is one.
nn::MetricValue looked_at(const nn::Tensors& given) {
  if (given.size() == 1) return given[0].item<double>();
  if (given.size() == 2) return {given[0].item<double>(), given[1].item<double>()};
  throw ValueError("[Trainer] got a metric of " + std::to_string(given.size()) +
                   " values; expected one, or one and its weight");
}

nn::Transform transform_of(const Network& script) {
  check_two("transform", *script.module, "(inputs, targets)");
  return [module = script.module](nn::Batch& batch, const nn::BatchContext&) {
    const auto names = batch.names ? *batch.names : nn::FieldNames{};
    auto changed = module->call(
        {{"inputs", batch.all_inputs(), names.inputs}, {"targets", batch.all_targets(), names.targets}}, "transform");
    const auto fields = batch.fields();
    if (changed.tensors.size() != fields.size())
      throw ValueError("[Trainer] got a transform that gives " + std::to_string(changed.tensors.size()) +
                       " tensors; expected " + std::to_string(fields.size()) + ", inputs before targets");
    for (std::size_t i = 0; i < fields.size(); ++i) *fields[i] = std::move(changed.tensors[i]);
  };
}

at::Tensor tensor_of(const KeptOperand& given) {
  if (const auto* array = given.array()) return array->larray();
  throw ValueError("[normalise] got no numbers; expected a number or an array");
}
using Numbers = std::variant<double, std::int64_t, KeptOperand>;  // an integer converts to no float before this
at::Tensor tensor_of(const Numbers& given) {
  if (const auto* number = std::get_if<double>(&given)) return at::scalar_tensor(*number, at::kDouble);
  if (const auto* number = std::get_if<std::int64_t>(&given)) return at::scalar_tensor(*number, at::kDouble);
  return tensor_of(std::get<KeptOperand>(given));
}

void bind_transforms(nb::module_& m) {
  nb::class_<MadeTransform>(m, "Transform", "A change of batches, for transforms of a Trainer.");
  m.def(
      "normalise",
      [](const Numbers& mean, const Numbers& std, const std::string& field) {
        return MadeTransform{nn::normalise(tensor_of(mean), tensor_of(std), {.field = field})};
      },
      "mean"_a, "std"_a, "field"_a = "",
      "(inputs - mean) / std of the first input, or of `field`; arrays broadcast to a row.");
  m.def(
      "random_flip",
      [](std::int64_t axis, double probability, nn::Targets targets, const std::string& field) {
        return MadeTransform{
            nn::random_flip({.axis = axis, .probability = probability, .targets = targets, .field = field})};
      },
      "axis"_a = -1, "probability"_a = 0.5, "targets"_a = nn::Targets::together, "field"_a = "",
      "Turns some rows around along an axis, with all fields on the same grid.");
  m.def(
      "random_shift",
      [](std::int64_t most, nn::Targets targets, const std::string& field) {
        return MadeTransform{nn::random_shift({.most = most, .targets = targets, .field = field})};
      },
      "most"_a = 4, "targets"_a = nn::Targets::together, "field"_a = "",
      "Moves rows by up to so many places along the last two axes, with all fields on the same grid.");
}

}  // namespace

nn::Loss loss_of(const LossChoice& choice, const Network& network, const FieldsInUse& fields) {
  if (const auto* name = std::get_if<std::string>(&choice.measure)) {
    if (choice.returns_weight)
      throw ValueError("[Trainer] got loss_returns_weight for a loss by its name, which has it anyway");
    return nn::named_loss(*name, loss_options_of(choice.settings).value_or(nn::LossOptions()));
  }
  if (choice.settings)
    throw ValueError("[Trainer] got loss_options for a function; expected them for a loss by its name");
  return [loss = Scripted("loss", *std::get<1>(choice.measure), network, fields), weighs = choice.returns_weight](
             const nn::Tensors& outputs, const nn::Tensors& targets, const nn::Tensors& inputs) {
    return value_in(loss(outputs, targets, inputs), weighs);
  };
}

std::vector<nn::detail::Setting> settings_of(const LossChoice& choice) {
  const auto* name = std::get_if<std::string>(&choice.measure);
  return nn::detail::settings_of(name ? *name : "of a function",
                                 loss_options_of(choice.settings).value_or(nn::LossOptions()));
}

nn::Metrics metrics_of(const std::map<std::string, MeasureChoice>& choices, const std::optional<LossSettings>& settings,
                       const Network& network, const FieldsInUse& fields) {
  const auto options = loss_options_of(settings).value_or(nn::LossOptions());
  nn::Metrics metrics;
  for (const auto& [name, choice] : choices) {
    if (const auto* known = std::get_if<std::string>(&choice)) {
      metrics.emplace(name, nn::named_metric(*known, options));
      continue;
    }
    metrics.emplace(name, [metric = Scripted("metric", *std::get<1>(choice), network, fields)](
                              const nn::Tensors& outputs, const nn::Tensors& targets, const nn::Tensors& inputs) {
      return looked_at(metric(outputs, targets, inputs));
    });
  }
  return metrics;
}

std::vector<nn::Transform> transforms_of(const std::vector<TransformChoice>& choices) {
  std::vector<nn::Transform> transforms;
  for (const auto& choice : choices) {
    if (const auto* const* made = std::get_if<0>(&choice)) transforms.push_back((*made)->call);
    else transforms.push_back(transform_of(*std::get<1>(choice)));
  }
  return transforms;
}

void bind_networks(nb::module_& m) {
  nb::class_<Network> c(m, "LoadedModule",
                        "A network that torch.export.save or torch.jit.save has written, the same on all ranks.");
  c.def(
      "__init__",
      [](Network* self, const std::filesystem::path& path, std::optional<Communicator> comm, const Device& device,
         const std::string& failure) {
        auto ranks = comm_of(comm);
        all_or_none(ranks, [&] {
          if (!failure.empty()) throw ValueError(failure);
        });
        auto module = nn::load_module(path.string(), {.comm = ranks});
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
          if (network.comm.rank() == 0) network.module->save_network(path.string());
        });
      },
      Released(), "path"_a, "Writes the network for torch.export.load or torch.jit.load, as it came. Collective.");
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
  c.def_prop_ro(
      "_checksum", [](const Network& network) { return network.module->checksum(); }, "A checksum of its file. Local.");
  c.def_prop_ro(
      "comm", [](const Network& network) { return network.comm; }, "The ranks that have it.");
  m.def(
      "_check_agreed",
      [](const Communicator& comm, const std::vector<std::pair<std::string, std::string>>& values,
         const std::string& failure) {
        std::vector<nn::detail::Setting> settings;
        for (const auto& [name, value] : values) settings.push_back({name, value});
        nn::detail::check_agreed("Trainer", comm, settings, [&] {
          if (!failure.empty()) throw ValueError(failure);
        });
      },
      Released(), "comm"_a, "values"_a, "failure"_a = "",
      "Raises a ValueError on all ranks for a failure on any, and for values that differ between ranks. Collective.");
  bind_transforms(m);
}

}  // namespace heatpp::python
