#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <string_view>

namespace heatpp::nn::detail {

inline constexpr std::string_view counting_operator = "torch.ops.aten.add_.Tensor";

/// Returns the name in {"as_tensor": {"name": "x"}}; "" for another argument.
[[nodiscard]] std::string name_of_tensor(const nlohmann::json& argument);

/// Returns the inputs of the graph that count batches of BatchNorm, by the running means of the same layers. A separate
/// node counts batches; a network that was exported for evaluation lacks it, and evaluation must not run it. The layer
/// can count instead of the node if nothing else uses these inputs. `buffers` has the names of buffers in the module by
/// those of the graph's inputs.
[[nodiscard]] std::map<std::string, std::string> counters_of(const nlohmann::json& graph,
                                                             const std::map<std::string, std::string>& buffers);

}  // namespace heatpp::nn::detail
