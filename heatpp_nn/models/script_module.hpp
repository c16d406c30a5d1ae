#pragma once

#include <heatpp_nn/models/loaded_module.hpp>

namespace heatpp::nn {

namespace detail {
struct ModuleFile;
}

/// Options of ScriptModule.
using ScriptModuleOptions = LoadModuleOptions;

/// A network that Python has scripted or traced and saved (`torch.jit.script(net).save("net.pt")`), as a module that
/// heatpp trains and applies. Later versions of PyTorch do not write such files; ExportedModule reads what they write.
///     ht::nn::DataParallel model(std::make_shared<ht::nn::ScriptModule>("net.pt"), topology);
/// A traced network keeps the mode, train or eval, in which it was traced, if its layers depend on it.
/// The names of non-persistent buffers come from the extra file "not_persistent", one per line (`torch.jit.save(net,
/// path, _extra_files={"not_persistent": "encoder.mask"})`).
class ScriptModule : public LoadedModule {
 public:
  /// Reads the file on rank 0 for all, onto the CPU. Collective. Throws IoError on all ranks, with the file's name, if
  /// it is missing or no TorchScript network.
  explicit ScriptModule(const std::string& path, const ScriptModuleOptions& options = {});
  explicit ScriptModule(detail::ModuleFile file);  ///< for load_module
  ~ScriptModule() override;

  [[nodiscard]] std::vector<std::string> parameter_names() const override;
  [[nodiscard]] std::size_t required_parameters() const override;

  /// Also sets the mode in the network, where its layers read it. At first all layers have the modes of the file.
  void train(bool on = true) override;
  /// Writes the network with its current weights for Python's `torch.jit.load`; the file appears complete or not at
  /// all. Local: one rank calls it. Throws IoError.
  void save_script(const std::string& path) const;
  void save_network(const std::string& path) const override { save_script(path); }

 private:
  ModuleOutputs run(const std::vector<at::Tensor>& inputs) override;
  ModuleOutputs apply_to(const std::vector<ModuleArgument>& arguments) override;

  struct Script;
  std::unique_ptr<Script> script_;
};

}  // namespace heatpp::nn
