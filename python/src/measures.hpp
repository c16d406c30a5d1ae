#pragma once

#include <heatpp_nn/training/inference.hpp>

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

/// Losses: cross_entropy of classes, or of probabilities; mse, l1 and huber of equal shapes; binary_cross_entropy of
/// logits. Throws ValueError for other names.
[[nodiscard]] nn::Loss loss_named(const std::string& name);
/// The same, and accuracy, to be looked at.
[[nodiscard]] nn::Metric metric_named(const std::string& name);

}  // namespace heatpp::python
