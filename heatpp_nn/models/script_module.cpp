#include <heatpp_nn/models/script_module.hpp>

#include <heatpp/comm/detail/failure.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_nn/detail/first_line.hpp>
#include <heatpp_nn/models/detail/module_file.hpp>
#include <heatpp_nn/models/detail/refused.hpp>
#include <heatpp_nn/models/detail/script_values.hpp>

#include <torch/script.h>

#include <algorithm>
#include <span>
#include <sstream>

namespace heatpp::nn {

using heatpp::detail::raise;

namespace {

/// Returns the cause of an error in a scripted network: the last line of an interpreter's message, which begins with
/// the trace of the network's lines, and the first line of others.
std::string reason_in(const std::exception& error) {
  auto text = heatpp::detail::text_of(error);
  constexpr std::string_view mark = "RuntimeError: ";
  if (const auto at = text.rfind(mark); at != std::string::npos) {
    text.erase(0, at + mark.size());
    return text.substr(0, text.find('\n'));
  }
  if (!text.starts_with("The following operation failed")) return detail::first_line(error);
  text.erase(text.find_last_not_of(" \n") + 1);
  return text.substr(text.rfind('\n') + 1);
}

constexpr auto names_file = "not_persistent";  // in the archive

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

/// A module that has the parameters, buffers, parts and modes of a scripted one.
class Mirror : public torch::nn::Module {
 public:
  explicit Mirror(const torch::jit::Module& script) : script_(script) { reflect(*this, script); }

  void train(bool on = true) override {
    torch::nn::Module::train(on);
    script_.train(on);
  }

  static void reflect(torch::nn::Module& to, const torch::jit::Module& script) {
    to.torch::nn::Module::train(script.is_training());  // before it has parts, which have their own modes
    for (const auto& parameter : script.named_parameters(/*recurse=*/false))
      to.register_parameter(parameter.name, parameter.value, parameter.value.requires_grad());
    for (const auto& buffer : script.named_buffers(/*recurse=*/false)) to.register_buffer(buffer.name, buffer.value);
    for (const auto& part : script.named_children())
      to.register_module(part.name, std::make_shared<Mirror>(part.value));
  }

 private:
  torch::jit::Module script_;
};

}  // namespace

struct ScriptModule::Script {
  torch::jit::Module module;

  c10::IValue run(std::vector<c10::IValue> arguments) {
    try {
      return module.forward(std::move(arguments));
    } catch (const std::exception& error) {
      throw detail::Refused(reason_in(error));
    }
  }
  /// Returns the parameters of `forward`, without the module itself.
  [[nodiscard]] std::span<const c10::Argument> parameters() const {
    return std::span(module.get_method("forward").function().getSchema().arguments()).subspan(1);
  }
};

ScriptModule::ScriptModule(const std::string& path, const ScriptModuleOptions& options)
    : ScriptModule(detail::file_for_all("ScriptModule", path, comm_of(options.comm))) {}

ScriptModule::ScriptModule(detail::ModuleFile file) : LoadedModule("ScriptModule", file.bytes) {
  std::istringstream stream(std::move(file.bytes));
  all_or_none(file.comm, [&] {
    try {
      torch::jit::ExtraFilesMap extra{{names_file, ""}};
      script_ = std::make_unique<Script>(torch::jit::load(stream, at::kCPU, extra));
      set_not_persistent(lines_of(extra[names_file]));
      (void)script_->module.get_method("forward");
    } catch (const std::exception& error) {
      raise<IoError>("ScriptModule", "got \"{}\" ({}); expected a network that torch.jit.save has written", file.path,
                     detail::first_line(error));
    }
  });
  Mirror::reflect(*this, script_->module);
}

ScriptModule::~ScriptModule() = default;

ModuleOutputs ScriptModule::run(const std::vector<at::Tensor>& inputs) {
  return detail::unpacked("ScriptModule", script_->run({inputs.begin(), inputs.end()}));
}

ModuleOutputs ScriptModule::apply_to(const std::vector<ModuleArgument>& arguments) {
  const auto parameters = script_->parameters();
  if (arguments.size() > parameters.size() || arguments.size() < required_parameters())
    raise<ValueError>("ScriptModule", "got {} arguments for a function of {} parameters, {} of them without defaults",
                      arguments.size(), parameters.size(), required_parameters());
  std::vector<c10::IValue> values;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    values.push_back(detail::packed("ScriptModule", arguments[i], parameters[i].name(), parameters[i].type()));
  return detail::unpacked("ScriptModule", script_->run(std::move(values)));
}

std::vector<std::string> ScriptModule::parameter_names() const {
  std::vector<std::string> names;
  for (const auto& parameter : script_->parameters()) names.push_back(parameter.name());
  return names;
}

std::size_t ScriptModule::required_parameters() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(script_->parameters(), [](const auto& parameter) { return !parameter.default_value(); }));
}

void ScriptModule::train(bool on) {
  torch::nn::Module::train(on);
  script_->module.train(on);
}

void ScriptModule::save_script(const std::string& path) const {
  std::string names;
  for (const auto& name : not_persistent()) names += name + "\n";
  std::ostringstream stream;
  script_->module.save(stream,
                       names.empty() ? torch::jit::ExtraFilesMap{} : torch::jit::ExtraFilesMap{{names_file, names}});
  io::detail::write_atomically("save_script", path, stream.str());
}

}  // namespace heatpp::nn
