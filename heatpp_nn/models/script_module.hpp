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

/// What a scripted function gave.
struct ScriptOutputs {
  std::vector<at::Tensor> tensors = {};
  std::vector<std::string> names = {};  ///< keys of dicts and positions: "mean", "heads.0"; "" of one tensor alone
  bool is_dict = false;
};

/// What a parameter of a scripted function is given: as many tensors as its type takes.
struct ScriptArgument {
  std::string what;  ///< for errors: "outputs"
  std::vector<at::Tensor> tensors = {};
  std::vector<std::string> names = {};  ///< for a parameter that is a dict
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

  /// Calls the network's `forward` of one tensor or several, which gives tensors, or lists, tuples and dicts of them;
  /// these come in their order. Throws TypeError where it gives something else, and ValueError with the first line of
  /// LibTorch's message where the inputs do not fit. Local.
  std::vector<at::Tensor> forward(const std::vector<at::Tensor>& inputs);
  /// Throws ValueError also where `forward` gives several tensors.
  at::Tensor forward(const at::Tensor& x);
  /// The keys of the dict that `forward` gave last, else nothing.
  [[nodiscard]] const std::vector<std::string>& output_names() const { return output_names_; }
  /// Calls `forward` of tensors, lists, tuples or dicts: for losses and transforms that Python has scripted. Throws
  /// ValueError where `forward` has other than that many parameters without defaults, or takes them otherwise.
  ScriptOutputs call(const std::vector<ScriptArgument>& arguments);
  /// The parameters of `forward`, those with defaults last; how many have none is `required_parameters()`.
  [[nodiscard]] std::vector<std::string> parameter_names() const;
  [[nodiscard]] std::size_t required_parameters() const;

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
  std::vector<std::string> output_names_;
  std::vector<std::string> not_persistent_;
};

}  // namespace heatpp::nn
