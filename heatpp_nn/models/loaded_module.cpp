#include <heatpp_nn/models/loaded_module.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/text.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_nn/models/detail/exported/archive.hpp>
#include <heatpp_nn/models/detail/module_file.hpp>
#include <heatpp_nn/models/detail/refused.hpp>
#include <heatpp_nn/models/exported_module.hpp>
#include <heatpp_nn/models/script_module.hpp>

#include <ATen/ATen.h>

namespace heatpp::nn {

std::vector<at::Tensor> LoadedModule::forward(const std::vector<at::Tensor>& inputs) {
  auto outputs = in_role("network", [&] { return run(inputs); });
  output_names_.clear();
  if (outputs.is_dict) output_names_ = std::move(outputs.names);
  return std::move(outputs.tensors);
}

at::Tensor LoadedModule::forward(const at::Tensor& x) {
  auto outputs = forward(std::vector<at::Tensor>{x});
  if (outputs.size() != 1)
    heatpp::detail::raise<ValueError>(op_, "got a network that gives {} tensors; expected one, or forward of a vector",
                                      outputs.size());
  return std::move(outputs.front());
}

ModuleOutputs LoadedModule::call(const std::vector<ModuleArgument>& arguments, std::string_view role) {
  return in_role(role, [&] { return apply_to(arguments); });
}

ModuleOutputs LoadedModule::in_role(std::string_view role, const std::function<ModuleOutputs()>& work) const {
  try {
    return work();
  } catch (const detail::Refused& error) {
    heatpp::detail::raise<ValueError>(op_, "got inputs that the {} refuses ({}); expected those of its forward", role,
                                      error.what());
  }
}

detail::ModuleFile detail::file_for_all(const char* op, const std::string& path, const Communicator& comm) {
  std::string bytes;
  all_or_none(comm, [&] {
    if (comm.rank() == 0) bytes = io::detail::read_file(op, path);
  });
  return {path, heatpp::detail::text_of_rank_0(comm, std::move(bytes)), comm};
}

std::shared_ptr<LoadedModule> load_module(const std::string& path, const LoadModuleOptions& options) {
  auto file = detail::file_for_all("load_module", path, comm_of(options.comm));
  if (detail::is_exported(file.bytes, path)) return std::make_shared<ExportedModule>(std::move(file));
  return std::make_shared<ScriptModule>(std::move(file));
}

}  // namespace heatpp::nn
