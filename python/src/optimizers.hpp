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
/// By torch's names: lr, betas, weight_decay, ...
using OptimizerOptions = std::map<std::string, OptionValue>;

/// Parameters whose names fit one of some patterns of the shell's kind, and what is special about them.
struct ParameterGroup {
  std::vector<std::string> patterns;
  OptimizerOptions options;
};

/// sgd, adam, adamw, rmsprop, adagrad, lbfgs, lars or lamb, of a replica's parameters. Those of no group come first, in
/// one of their own; one that fits several groups is in the first of them. Throws ValueError for other names, for
/// options that the optimizer does not have or that are out of range, and for patterns that fit no trained parameter.
[[nodiscard]] std::unique_ptr<torch::optim::Optimizer> made_optimizer(const std::string& name, const nn::Replica& model,
                                                                      const OptimizerOptions& options,
                                                                      const std::vector<ParameterGroup>& groups);

}  // namespace heatpp::python
