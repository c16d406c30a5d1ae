#pragma once

#include <string>

namespace tools {

/// Whether `heatpp` treats a file as a network of torch.export: .pt2.
[[nodiscard]] bool holds_network(const std::string& path);

/// Describes the inputs, outputs, parameters and calls of the network, in lines or as JSON. Collective.
[[nodiscard]] std::string description_of_network(const std::string& path, bool json);

}  // namespace tools
