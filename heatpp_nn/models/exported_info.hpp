#pragma once

#include <heatpp_nn/models/loaded_module.hpp>

#include <cstdint>

namespace heatpp::nn {

/// A tensor of an exported network. Numbers that it returns are tensors without axes.
struct ExportedTensor {
  std::string name;   ///< empty for the only output
  std::string dtype;  ///< "float32"
  std::string shape;  ///< "(s77, 2*s17, 4)", with symbols for dynamic sizes
};
/// An operator that an exported network calls.
struct ExportedOperator {
  std::string name;  ///< "aten.conv2d.default"
  std::int64_t calls = 0;
  bool is_known = true;  ///< whether LibTorch has it
};
/// The contents of a `.pt2` file.
struct ExportedInfo {
  std::string torch_version;  ///< version that wrote it: "2.11.0"
  std::string schema;         ///< "8.17"
  std::vector<ExportedTensor> inputs, outputs, parameters, buffers;
  std::int64_t parameter_count = 0;  ///< numbers in the parameters; shared tensors count once
  std::vector<std::string> ranges;   ///< "s77 from 1 to 1024"
  std::vector<ExportedOperator> operators;
};

/// Reads the contents of a network of torch.export on rank 0. Collective. Throws IoError as ExportedModule, except for
/// operators that LibTorch does not have.
[[nodiscard]] ExportedInfo exported_info(const std::string& path, const LoadModuleOptions& options = {});

}  // namespace heatpp::nn
