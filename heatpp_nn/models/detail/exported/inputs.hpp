#pragma once

#include <heatpp_nn/models/detail/exported/signature.hpp>

namespace heatpp::nn::detail {

/// An input as it was exported.
struct NamedInfo {
  std::string name;
  TensorInfo info;
};

/// Throws ValueError where inputs are more or fewer, or have other sizes than the network was exported for: others than
/// numbers, or several for one symbol, or one beyond its range. A range from 2 on, which torch.export gives axes of any
/// length, stands for all.
void check_inputs(const std::vector<at::Tensor>& inputs, const std::vector<NamedInfo>& expected,
                  const std::map<std::string, ExportedRange>& ranges);

}  // namespace heatpp::nn::detail
