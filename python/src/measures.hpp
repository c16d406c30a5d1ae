#pragma once

#include <heatpp_nn/losses/losses.hpp>

#include "array_casters.hpp"

#include <span>

// Losses and metrics by name.
namespace heatpp::python {

/// Returns the entry of a table with this name. If there is none, throws ValueError with all names.
template <class Entry>
const Entry& named(const char* op, std::span<const Entry> table, const std::string& name) {
  std::string known;
  for (const auto& entry : table) {
    if (name == entry.name) return entry;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw ValueError("[" + std::string(op) + "] got \"" + name + "\"; expected one of " + known);
}

/// Options of a loss, by name.
using LossSettings = std::map<std::string, std::variant<std::string, double, KeptOperand>>;
/// Reads these options. Throws ValueError for unknown names, and for values of a wrong type.
[[nodiscard]] std::optional<nn::LossOptions> loss_options_of(const std::optional<LossSettings>& settings);

[[nodiscard]] nn::Metrics metrics_named(const std::vector<std::string>& names,
                                        const std::optional<nn::LossOptions>& options);

}  // namespace heatpp::python
