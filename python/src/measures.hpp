#pragma once

#include <heatpp_nn/losses/losses.hpp>

#include "array_casters.hpp"

#include <span>

// What trainings make small and look at, by name.
namespace heatpp::python {

/// The entry of a table with this name. Throws ValueError, with all names, where there is none.
template <class Entry>
const Entry& named(const char* op, std::span<const Entry> table, const std::string& name) {
  std::string known;
  for (const auto& entry : table) {
    if (name == entry.name) return entry;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw ValueError("[" + std::string(op) + "] got \"" + name + "\"; expected one of " + known);
}

/// Options of a loss by their names.
using LossSettings = std::map<std::string, std::variant<std::string, double, KeptOperand>>;
/// Throws ValueError for other names, and for values of another kind than theirs.
[[nodiscard]] std::optional<nn::LossOptions> loss_options_of(const std::optional<LossSettings>& settings);

[[nodiscard]] nn::Metrics metrics_named(const std::vector<std::string>& names,
                                        const std::optional<nn::LossOptions>& options);

}  // namespace heatpp::python
