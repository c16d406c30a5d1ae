#pragma once

#include <heatpp_nn/models/loaded_module.hpp>

namespace heatpp::nn {

namespace detail {
struct ModuleFile;
}

/// Options of ScriptModule.
using ScriptModuleOptions = LoadModuleOptions;

/// A network that Python has scripted or traced and saved (`torch.jit.script(net).save("net.pt")`), as a module to be
/// trained and applied here. Later versions of PyTorch write no more of these: ExportedModule takes what they write.
///     ht::nn::DataParallel model(std::make_shared<ht::nn::ScriptModule>("net.pt"), topology);
/// A traced network keeps the mode, train or eval, in which it was traced where its layers depend on it.
/// Buffers that are not persistent are known as far as the file says so: a line each in its extra file "not_persistent"
/// (`torch.jit.save(net, path, _extra_files={"not_persistent": "encoder.mask"})`).
class ScriptModule : public LoadedModule {
 public:
  /// Rank 0 reads the file, once for all, onto the CPU. Collective. Throws IoError on all ranks, with the file's name,
  /// where it is missing or no TorchScript network.
  explicit ScriptModule(const std::string& path, const ScriptModuleOptions& options = {});
  explicit ScriptModule(detail::ModuleFile file);  ///< of load_module
  ~ScriptModule() override;

  ModuleOutputs call(const std::vector<ModuleArgument>& arguments) override;
  [[nodiscard]] std::vector<std::string> parameter_names() const override;
  [[nodiscard]] std::size_t required_parameters() const override;

  /// The same in the network, whose layers look for it there. At first all have the modes that they were saved in.
  void train(bool on = true) override;
  /// Writes the network, with the weights as they are, for Python's `torch.jit.load`; it appears complete or not at
  /// all. Local: one rank does it. Throws IoError.
  void save_script(const std::string& path) const;
  void save_network(const std::string& path) const override { save_script(path); }

 private:
  ModuleOutputs run(const std::vector<at::Tensor>& inputs) override;

  struct Script;
  std::unique_ptr<Script> script_;
};

}  // namespace heatpp::nn
