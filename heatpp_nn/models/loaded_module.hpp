#pragma once

#include <heatpp/comm/communicator.hpp>
#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heatpp::nn {

/// Options of load_module, ExportedModule and ScriptModule.
struct LoadModuleOptions {
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// The result of a function from a file.
struct ModuleOutputs {
  std::vector<at::Tensor> tensors = {};
  std::vector<std::string> names = {};  ///< keys of dicts and positions: "mean", "heads.0"; "" for a single tensor
  bool is_dict = false;
};

/// The argument for a parameter of a function from a file: as many tensors as its type takes.
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
  /// Calls the network's `forward` of one or several tensors. The results are tensors, or lists, tuples and dicts of
  /// them, and are returned in their order. Local. Throws TypeError if `forward` returns something else, and ValueError
  /// with the first line of LibTorch's message if the inputs do not fit.
  std::vector<at::Tensor> forward(const std::vector<at::Tensor>& inputs);
  /// Throws ValueError also if `forward` returns several tensors.
  at::Tensor forward(const at::Tensor& x);
  /// Returns the keys of the dict that `forward` returned last, otherwise nothing.
  [[nodiscard]] const std::vector<std::string>& output_names() const { return output_names_; }
  /// Calls `forward` with tensors, lists, tuples or dicts: for losses and transforms that are written in Python. `role`
  /// names the function in errors: "loss". Throws ValueError if `forward` has another number of parameters without
  /// defaults, takes them in another form, or fails.
  ModuleOutputs call(const std::vector<ModuleArgument>& arguments, std::string_view role = "network");
  /// Returns the parameters of `forward` that take tensors, those with defaults last. `required_parameters()` is the
  /// number without defaults.
  [[nodiscard]] virtual std::vector<std::string> parameter_names() const = 0;
  [[nodiscard]] virtual std::size_t required_parameters() const = 0;

  /// Returns a checksum of the file, which differs between files.
  [[nodiscard]] std::size_t checksum() const { return checksum_; }
  /// Returns the names of the buffers that PyTorch's state_dict and safetensors leave out (`persistent=False`).
  [[nodiscard]] const std::vector<std::string>& not_persistent() const { return not_persistent_; }
  /// Writes the network with its current weights in the format of its file, which appears complete or not at all.
  /// Local: one rank calls it. Throws IoError.
  virtual void save_network(const std::string& path) const = 0;

 protected:
  LoadedModule(const char* op, std::string_view file) : op_(op), checksum_(std::hash<std::string_view>()(file)) {}
  /// These throw detail::Refused if `forward` fails.
  virtual ModuleOutputs run(const std::vector<at::Tensor>& inputs) = 0;
  virtual ModuleOutputs apply_to(const std::vector<ModuleArgument>& arguments) = 0;
  void set_not_persistent(std::vector<std::string> names) { not_persistent_ = std::move(names); }

 private:
  ModuleOutputs in_role(std::string_view role, const std::function<ModuleOutputs()>& work) const;

  const char* op_;
  std::size_t checksum_;
  std::vector<std::string> output_names_, not_persistent_;
};

/// Loads the network in a file and recognises the format by its content: an ExportedModule for a file of
/// torch.export.save, a ScriptModule for one of torch.jit.save. Rank 0 reads the file for all. Collective. Throws
/// IoError on all ranks, with the file's name, if it is missing or of neither format.
[[nodiscard]] std::shared_ptr<LoadedModule> load_module(const std::string& path, const LoadModuleOptions& options = {});

}  // namespace heatpp::nn
