#pragma once

#include <heatpp_nn/models/detail/exported/graph/operand.hpp>

#include <functional>
#include <string>

namespace heatpp::nn::detail {

/// A node of an exported graph, ready to be computed.
struct Step {
  std::string name, target;  ///< for errors
  std::vector<std::size_t> uses = {}, gives = {};
  std::function<void(Frame&)> run = nullptr;
  std::vector<std::size_t> last = {};  ///< values that no later step uses
};

/// A graph of torch.export, whose nodes are computed in order.
class Graph {
 public:
  Graph(std::vector<std::size_t> inputs, std::vector<Step> steps, std::vector<Operand> outputs, std::size_t values);

  /// Returns the outputs for these inputs, on the modules' device. Throws Refused with the name of a failed node.
  [[nodiscard]] std::vector<c10::IValue> run(std::vector<c10::IValue> inputs, at::Device device) const;
  [[nodiscard]] std::size_t inputs() const { return inputs_.size(); }
  [[nodiscard]] std::size_t outputs() const { return outputs_.size(); }

 private:
  std::vector<std::size_t> inputs_;
  std::vector<Step> steps_;
  std::vector<Operand> outputs_;
  std::size_t values_;
};

}  // namespace heatpp::nn::detail
