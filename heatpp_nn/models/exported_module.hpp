#pragma once

#include <heatpp_nn/models/loaded_module.hpp>

namespace heatpp::nn {

namespace detail {
class ExportedProgram;
struct ModuleFile;
}  // namespace detail

/// A network of torch.export as a module that is trained and applied here, without Python. In Python:
///     exported = torch.export.export(net.train(), (x,), dynamic_shapes=({0: Dim("rows")},))
///     torch.export.save(exported, "net.pt2")
/// In C++:
///     ht::nn::DataParallel model(std::make_shared<ht::nn::ExportedModule>("net.pt2"), topology);
///
/// The nodes of its graph are LibTorch's operators. They are called by their names, and LibTorch gives the gradients.
/// - Modes: the flags of dropout, normalisation and recurrent layers follow the mode of the module that called them.
///   Modules first have the mode in which they were exported. Export in training mode: attention that was exported for
///   evaluation does not say its dropout rate.
/// - Sizes: dynamic sizes may differ from call to call. A batch may have one row or none.
/// - Devices: the graph is computed on the device of the module, also if it was exported on another.
class ExportedModule : public LoadedModule {
 public:
  /// Reads the file on rank 0 for all, onto the CPU. Collective. Throws IoError on all ranks, with the names of file
  /// and node, if it is missing, damaged, of another version, or calls operators that LibTorch does not have.
  explicit ExportedModule(const std::string& path, const LoadModuleOptions& options = {});
  explicit ExportedModule(detail::ModuleFile file);  ///< for load_module
  ~ExportedModule() override;

  [[nodiscard]] std::vector<std::string> parameter_names() const override;
  [[nodiscard]] std::size_t required_parameters() const override;
  /// Writes a file for Python's `torch.export.load`: the graph with the current weights, in the dtypes of the file.
  void save_network(const std::string& path) const override;

 private:
  ModuleOutputs run(const std::vector<at::Tensor>& inputs) override;
  ModuleOutputs apply_to(const std::vector<ModuleArgument>& arguments) override;

  std::unique_ptr<detail::ExportedProgram> program_;
};

}  // namespace heatpp::nn
