#pragma once

#include <heatpp_nn/parallel/replica.hpp>
#include <torch/optim/optimizer.h>

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

// Optimizers by name, with torch's options and defaults.
namespace heatpp::python {

using OptionValue = std::variant<bool, double, std::pair<double, double>, std::string>;
/// Options under torch's names: lr, betas, weight_decay, ...
using OptimizerOptions = std::map<std::string, OptionValue>;

/// Parameters whose names match one of several shell patterns, and their options.
struct ParameterGroup {
  std::vector<std::string> patterns;
  OptimizerOptions options;
};

/// Creates sgd, adam, adamw, rmsprop, adagrad, lbfgs, lars, lamb or muon for a replica's parameters. The first group
/// has those that match no pattern; a parameter that matches several groups is in the first of these. Throws ValueError
/// for unknown names, unknown options, options out of range, and patterns that match no trained parameter.
[[nodiscard]] std::unique_ptr<torch::optim::Optimizer> made_optimizer(const std::string& name, const nn::Replica& model,
                                                                      const OptimizerOptions& options,
                                                                      const std::vector<ParameterGroup>& groups);

/// Returns groups as a text that must be equal on all ranks.
[[nodiscard]] std::string groups_text(const std::vector<ParameterGroup>& groups);

}  // namespace heatpp::python
