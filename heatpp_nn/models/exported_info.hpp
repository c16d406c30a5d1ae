#pragma once

#include <heatpp_nn/models/loaded_module.hpp>

#include <cstdint>

namespace heatpp::nn {

/// A tensor of an exported network.
struct ExportedTensor {
  std::string name;   ///< an output's is empty if it is the only one
  std::string dtype;  ///< "float32"
  std::string shape;  ///< "(s77, 4)", with a name for each size that is open
};
/// An operator that an exported network calls.
struct ExportedOperator {
  std::string name;  ///< "aten.conv2d.default"
  std::int64_t calls = 0;
  bool is_known = true;  ///< whether LibTorch has it
};
/// What a `.pt2` holds.
struct ExportedInfo {
  std::string torch_version;  ///< that wrote it: "2.11.0"
  std::string schema;         ///< "8.17"
  std::vector<ExportedTensor> inputs, outputs, parameters, buffers;
  std::int64_t parameter_count = 0;  ///< numbers in the parameters; those that are one tensor in Python count once
  std::vector<std::string> ranges;   ///< "s77 from 1 to 1024"
  std::vector<ExportedOperator> operators;
};

/// What a network of torch.export holds. Rank 0 reads it. Collective. Throws IoError as ExportedModule, but not for
/// operators that are not known.
[[nodiscard]] ExportedInfo exported_info(const std::string& path, const LoadModuleOptions& options = {});

}  // namespace heatpp::nn
