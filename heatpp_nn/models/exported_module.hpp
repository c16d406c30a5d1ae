#pragma once

#include <heatpp_nn/models/loaded_module.hpp>

namespace heatpp::nn {

namespace detail {
class ExportedProgram;
struct ModuleFile;
}  // namespace detail

/// A network of torch.export as a module to be trained and applied here, without Python:
///     torch.export.save(torch.export.export(net.train(), (x,), dynamic_shapes=({0: Dim("rows")},)), "net.pt2")   #
///     Python ht::nn::DataParallel model(std::make_shared<ht::nn::ExportedModule>("net.pt2"), topology); // C++
/// The nodes of its graph are LibTorch's operators, which are called by their names, and gradients are those of
/// LibTorch.
/// - Modes: the flags of dropout, normalisation and recurrent layers follow the mode of the part that called them.
/// Parts
///   have at first the mode that they were exported in. A network that was exported for training has more of them: of
///   attention that was exported for evaluation nobody knows the dropout.
/// - Sizes: those that were exported as dynamic may differ from call to call, a batch may also have one row or none.
/// - Devices: what was exported on one is computed where the module is.
class ExportedModule : public LoadedModule {
 public:
  /// Rank 0 reads the file, once for all, onto the CPU. Collective. Throws IoError on all ranks, with the file's name
  /// and that of the node, where it is missing, damaged, of another version, or calls operators that LibTorch has not.
  explicit ExportedModule(const std::string& path, const LoadModuleOptions& options = {});
  explicit ExportedModule(detail::ModuleFile file);  ///< of load_module
  ~ExportedModule() override;

  ModuleOutputs call(const std::vector<ModuleArgument>& arguments) override;
  [[nodiscard]] std::vector<std::string> parameter_names() const override;
  [[nodiscard]] std::size_t required_parameters() const override;
  /// For Python's `torch.export.load`: the graph as it was, with the weights as they are, in their dtypes in the file.
  void save_network(const std::string& path) const override;

 private:
  ModuleOutputs run(const std::vector<at::Tensor>& inputs) override;

  std::unique_ptr<detail::ExportedProgram> program_;
};

}  // namespace heatpp::nn
