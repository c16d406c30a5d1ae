#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <string_view>

namespace heatpp::nn::detail {

inline constexpr std::string_view counting_operator = "torch.ops.aten.add_.Tensor";

/// The name in {"as_tensor": {"name": "x"}}; "" of another argument.
[[nodiscard]] std::string name_of_tensor(const nlohmann::json& argument);

/// BatchNorm counts its batches by a node of its own, which a network that was exported for evaluation has not, and
/// which does not belong to evaluation. These are the inputs of the graph, by those that are the running means, that
/// can be counted by the layer in place of that node, as nothing else uses them. `buffers` has the names of buffers in
/// the module by those of the graph's inputs.
[[nodiscard]] std::map<std::string, std::string> counters_of(const nlohmann::json& graph,
                                                             const std::map<std::string, std::string>& buffers);

}  // namespace heatpp::nn::detail
