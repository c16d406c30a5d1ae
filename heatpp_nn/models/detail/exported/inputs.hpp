#pragma once

#include <heatpp_nn/models/detail/exported/signature.hpp>

namespace heatpp::nn::detail {

/// The name and shape of an input in the export.
struct NamedInfo {
  std::string name;
  TensorInfo info;
};

/// Throws ValueError if the number of inputs or their sizes do not fit the export: another fixed size, different values
/// of one symbol, a size that does not follow from its symbols as 2*s17 does, or a value outside its range. A range
/// from 2 on, which torch.export writes for axes of any length, includes all lengths.
void check_inputs(const std::vector<at::Tensor>& inputs, const std::vector<NamedInfo>& expected,
                  const std::map<std::string, ExportedRange>& ranges);

}  // namespace heatpp::nn::detail
