#pragma once

#include "text.hpp"

#include <string>

namespace tools {

/// What `heatpp describe` prints of a file.
struct Description {
  nlohmann::ordered_json json;
  std::string text;
};

/// Whether a file is a network of torch.export, as load_module decides it. Collective.
[[nodiscard]] bool holds_network(const std::string& path);

/// Describes the inputs, outputs, parameters and calls of the network. Collective.
[[nodiscard]] Description description_of_network(const std::string& path);

}  // namespace tools
