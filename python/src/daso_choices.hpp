#pragma once

#include <heatpp_nn/parallel/daso_options.hpp>

#include <map>
#include <optional>
#include <string>
#include <variant>

// DASO by name, with options.
namespace heatpp::python {

/// Options by the names that DasoOptions has: wire, partners, fragments, patience and quorum.
using DasoSettings = std::map<std::string, std::variant<double, std::string>>;

/// The DASO of a training, or none.
struct DasoChoice {
  std::optional<std::string> name;
  DasoSettings settings;
};
/// Returns the options for an epoch of `batches`. Throws ValueError for unknown names, for values of a wrong type, and
/// for settings without DASO.
[[nodiscard]] std::optional<nn::DasoOptions> daso_of(const DasoChoice& choice, std::int64_t batches);

}  // namespace heatpp::python
