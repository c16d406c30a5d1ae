#include <heatpp_nn/models/exported_module.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_nn/models/detail/exported/program.hpp>
#include <heatpp_nn/models/detail/module_file.hpp>

#include <ATen/ATen.h>

#include <algorithm>

namespace heatpp::nn {

using detail::ForwardParameter;
using heatpp::detail::raise;

namespace {

constexpr auto op = "ExportedModule";

/// Returns the position, among a parameter's tensors, of the i-th one that the graph takes.
std::size_t place_of(const ForwardParameter& parameter, std::size_t i, const ModuleArgument& argument) {
  if (!parameter.is_dict || argument.names.empty()) return i;
  const auto found = std::ranges::find(argument.names, parameter.names[i]);
  if (found == argument.names.end())
    raise<ValueError>(op, "got no {} \"{}\" for the parameter {}; expected all that it was exported with",
                      argument.what, parameter.names[i], parameter.name);
  return static_cast<std::size_t>(found - argument.names.begin());
}

}  // namespace

ExportedModule::ExportedModule(const std::string& path, const LoadModuleOptions& options)
    : ExportedModule(detail::file_for_all(op, path, comm_of(options.comm))) {}

ExportedModule::ExportedModule(detail::ModuleFile file) : LoadedModule(op, file.bytes) {
  all_or_none(file.comm, [&] { program_ = detail::program_of(file.bytes, file.path, *this); });
  set_not_persistent(program_->not_persistent());
}

ExportedModule::~ExportedModule() = default;

ModuleOutputs ExportedModule::run(const std::vector<at::Tensor>& inputs) {
  const auto& signature = program_->signature();
  return {program_->run(inputs), signature.output_names, signature.gives_dict};
}

ModuleOutputs ExportedModule::apply_to(const std::vector<ModuleArgument>& arguments) {
  const auto& parameters = program_->signature().parameters;
  if (arguments.size() != parameters.size())
    raise<ValueError>(op, "got {} arguments for a function of {} parameters; expected as many", arguments.size(),
                      parameters.size());
  std::vector<at::Tensor> inputs;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& taken = parameters[i].inputs;
    if (taken.size() != arguments[i].tensors.size())
      raise<ValueError>(op, "got {} {} for the parameter {} of {} tensors; expected as many",
                        arguments[i].tensors.size(), arguments[i].what, parameters[i].name, taken.size());
    for (std::size_t k = 0; k < taken.size(); ++k)
      inputs.push_back(arguments[i].tensors[place_of(parameters[i], k, arguments[i])]);
  }
  return run(inputs);
}

std::vector<std::string> ExportedModule::parameter_names() const {
  std::vector<std::string> names;
  for (const auto& parameter : program_->signature().parameters) names.push_back(parameter.name);
  return names;
}

std::size_t ExportedModule::required_parameters() const { return program_->signature().parameters.size(); }

void ExportedModule::save_network(const std::string& path) const {
  io::detail::write_atomically("save_network", path, program_->bytes());
}

}  // namespace heatpp::nn
