#pragma once

#include <torch/nn/module.h>

#include <map>
#include <memory>
#include <string>

namespace heatpp::nn::detail {

/// The modules in a network, made from the names of parameters, buffers and parts.
class Parts {
 public:
  explicit Parts(torch::nn::Module& network) : network_(&network) {}

  /// Add to the network. All throw Malformed for a name that no module can have, or that is taken.
  void add_parameter(const std::string& name, const at::Tensor& tensor, bool requires_grad);
  void add_buffer(const std::string& name, const at::Tensor& tensor);
  /// Adds a module. Does nothing if no module can have this name.
  void add_module(const std::string& name);

  /// Returns the module of this name, or the innermost existing one around it.
  [[nodiscard]] const torch::nn::Module* around(std::string name) const;
  /// Sets the modes of these modules; other modules get the mode of the module around them.
  void set_modes(const std::map<const torch::nn::Module*, bool>& modes);

 private:
  torch::nn::Module& at(const std::string& name);
  template <class Add>
  void add(const std::string& name, const Add& add_to);

  torch::nn::Module* network_;
  std::map<std::string, std::shared_ptr<torch::nn::Module>> parts_;
};

}  // namespace heatpp::nn::detail
