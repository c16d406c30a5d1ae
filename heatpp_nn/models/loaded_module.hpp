#pragma once

#include <heatpp/comm/communicator.hpp>
#include <torch/nn/module.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heatpp::nn {

/// Options of load_module, ExportedModule and ScriptModule.
struct LoadModuleOptions {
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// What a function from a file gave.
struct ModuleOutputs {
  std::vector<at::Tensor> tensors = {};
  std::vector<std::string> names = {};  ///< keys of dicts and positions: "mean", "heads.0"; "" of one tensor alone
  bool is_dict = false;
};

/// What a parameter of a function from a file is given: as many tensors as its type takes.
struct ModuleArgument {
  std::string what;  ///< for errors: "outputs"
  std::vector<at::Tensor> tensors = {};
  std::vector<std::string> names = {};  ///< for a parameter that is a dict
};

/// A network that Python has written into a file, as a module to be trained and applied here: its parameters and
/// buffers are this module's, under PyTorch's names, so that `save_safetensors` gives what Python's `load_state_dict`
/// takes.
///     ht::nn::DataParallel model(ht::nn::load_module("net.pt2"), topology);
class LoadedModule : public torch::nn::Module {
 public:
  /// Calls the network's `forward` of one tensor or several, which gives tensors, or lists, tuples and dicts of them;
  /// these come in their order. Throws TypeError where it gives something else, and ValueError with the first line of
  /// LibTorch's message where the inputs do not fit. Local.
  std::vector<at::Tensor> forward(const std::vector<at::Tensor>& inputs);
  /// Throws ValueError also where `forward` gives several tensors.
  at::Tensor forward(const at::Tensor& x);
  /// The keys of the dict that `forward` gave last, else nothing.
  [[nodiscard]] const std::vector<std::string>& output_names() const { return output_names_; }
  /// Calls `forward` of tensors, lists, tuples or dicts: for losses and transforms that are written in Python. Throws
  /// ValueError where `forward` has other than that many parameters without defaults, or takes them otherwise.
  virtual ModuleOutputs call(const std::vector<ModuleArgument>& arguments) = 0;
  /// The parameters of `forward` that take tensors, those with defaults last; how many have none is
  /// `required_parameters()`.
  [[nodiscard]] virtual std::vector<std::string> parameter_names() const = 0;
  [[nodiscard]] virtual std::size_t required_parameters() const = 0;

  /// Buffers that PyTorch's state_dict leaves out (`persistent=False`), by name. Safetensors leave them out, too.
  [[nodiscard]] const std::vector<std::string>& not_persistent() const { return not_persistent_; }
  /// Writes the network, with the weights as they are, in the format of its file; it appears complete or not at all.
  /// Local: one rank does it. Throws IoError.
  virtual void save_network(const std::string& path) const = 0;

 protected:
  explicit LoadedModule(const char* op) : op_(op) {}
  virtual ModuleOutputs run(const std::vector<at::Tensor>& inputs) = 0;
  void set_not_persistent(std::vector<std::string> names) { not_persistent_ = std::move(names); }

 private:
  const char* op_;
  std::vector<std::string> output_names_, not_persistent_;
};

/// The network in a file, told by its content: an ExportedModule of what torch.export.save has written, or a
/// ScriptModule of what torch.jit.save has. Rank 0 reads the file, once for all. Collective. Throws IoError on all
/// ranks, with the file's name, where it is missing or neither.
[[nodiscard]] std::shared_ptr<LoadedModule> load_module(const std::string& path, const LoadModuleOptions& options = {});

}  // namespace heatpp::nn
