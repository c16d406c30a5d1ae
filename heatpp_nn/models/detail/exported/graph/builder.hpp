#pragma once

#include <heatpp_nn/models/detail/exported/graph/arguments.hpp>
#include <heatpp_nn/models/detail/exported/graph/graph.hpp>

namespace heatpp::nn::detail {

/// The network around a graph, and what the graph's nodes tell about it.
struct Surroundings {
  std::function<const torch::nn::Module*(const std::string& name)> module_of;  ///< the part of this name, or around it
  /// Inputs of the graph that count batches, by the names of the running means of the same layer.
  std::map<std::string, std::string> counters = {};
  std::vector<std::pair<const torch::nn::Module*, bool>> modes =
      {};         ///< found: whether these modules were exported in training
  int depth = 0;  ///< number of graphs around this one
};

/// Makes a graph of its JSON. Throws Malformed with the node's name for operators that LibTorch does not have,
/// arguments that they do not take, and values that no earlier node has computed.
[[nodiscard]] Graph graph_of(const nlohmann::json& graph, Surroundings& around);

/// Whether LibTorch has the operator "torch.ops.aten.add.Tensor"; whether a node with this target can be computed.
[[nodiscard]] bool has_operator(const std::string& target);
[[nodiscard]] bool is_known(const std::string& target);

/// The numbers of a node's output values: one for each, several for a list, none for values that are not used.
struct Results {
  std::vector<std::vector<std::size_t>> numbers = {};
  std::vector<bool> is_list = {};
};
/// Gives the outputs of a node their numbers.
[[nodiscard]] Results results_of(const nlohmann::json& node, Names& names, const std::string& where);
void put(const Results& results, std::vector<c10::IValue> values, Frame& frame);

/// A node in its JSON form.
struct Node {
  const nlohmann::json& json;
  std::string name, target, where;
};
/// Make nodes that call an operator of LibTorch, that compute with numbers, and that have graphs as arguments.
[[nodiscard]] Step operator_step(const Node& node, Names& names, Surroundings& around);
[[nodiscard]] Step number_step(const Node& node, Names& names);
[[nodiscard]] Step graph_step(const Node& node, Names& names, Surroundings& around);

}  // namespace heatpp::nn::detail
