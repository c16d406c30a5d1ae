#pragma once

#include <heatpp/comm/communicator.hpp>
#include <torch/nn/module.h>

#include <memory>
#include <string>
#include <vector>

namespace heatpp::nn {

/// Options of ScriptModule.
struct ScriptModuleOptions {
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// A network that Python has scripted or traced and saved (`torch.jit.script(net).save("net.pt")`), as a module to be
/// trained and applied here: its parameters and buffers are this module's, under PyTorch's names, so that
/// `save_safetensors` gives what Python's `load_state_dict` takes.
///     ht::nn::DataParallel model(std::make_shared<ht::nn::ScriptModule>("net.pt"), topology);
/// A traced network keeps the mode, train or eval, in which it was traced where its layers depend on it.
class ScriptModule : public torch::nn::Module {
 public:
  /// Rank 0 reads the file, once for all, onto the CPU. Collective. Throws IoError on all ranks, with the file's name,
  /// where it is missing or no TorchScript network.
  explicit ScriptModule(const std::string& path, const ScriptModuleOptions& options = {});
  ~ScriptModule() override;

  /// Calls the network's `forward`. Throws TypeError where that gives no tensor, and ValueError with the first line of
  /// LibTorch's message where the inputs do not fit. Local.
  at::Tensor forward(const at::Tensor& x) { return forward(std::vector<at::Tensor>{x}); }
  at::Tensor forward(const std::vector<at::Tensor>& inputs);
  /// The same of a network that gives a tensor, or a tuple or list of them.
  [[nodiscard]] std::vector<at::Tensor> outputs(const std::vector<at::Tensor>& inputs);

  /// Buffers that PyTorch's state_dict leaves out (`persistent=False`), by name, as far as the file says so: a line
  /// each in its extra file "not_persistent" (`torch.jit.save(net, path, _extra_files={"not_persistent":
  /// "encoder.mask"})`). Safetensors leave them out, too.
  [[nodiscard]] const std::vector<std::string>& not_persistent() const { return not_persistent_; }

  /// The same in the network, whose layers look for it there. At first all have the modes that they were saved in.
  void train(bool on = true) override;
  /// Writes the network, with the weights as they are, for Python's `torch.jit.load`; it appears complete or not at
  /// all. Local: one rank does it. Throws IoError.
  void save_script(const std::string& path) const;

 private:
  struct Script;
  std::unique_ptr<Script> script_;
  std::vector<std::string> not_persistent_;
};

}  // namespace heatpp::nn
