#pragma once

#include <string>

namespace tools {

/// Whether `heatpp` takes a file for a network of torch.export: .pt2.
[[nodiscard]] bool holds_network(const std::string& path);

/// What the network takes, gives, holds and calls, in lines or as JSON. Collective.
[[nodiscard]] std::string description_of_network(const std::string& path, bool json);

}  // namespace tools
