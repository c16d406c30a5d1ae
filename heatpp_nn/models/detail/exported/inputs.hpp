#pragma once

#include <heatpp_nn/models/detail/exported/signature.hpp>

namespace heatpp::nn::detail {

/// An input as it was exported.
struct NamedInfo {
  std::string name;
  TensorInfo info;
};

/// Throws ValueError if the number of inputs or their sizes differ from those of the export: another number, several
/// values of one symbol, or one beyond its range. A range from 2 on, which torch.export writes for axes of any length,
/// includes all lengths.
void check_inputs(const std::vector<at::Tensor>& inputs, const std::vector<NamedInfo>& expected,
                  const std::map<std::string, ExportedRange>& ranges);

}  // namespace heatpp::nn::detail
