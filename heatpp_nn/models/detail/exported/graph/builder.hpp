#pragma once

#include <heatpp_nn/models/detail/exported/graph/arguments.hpp>
#include <heatpp_nn/models/detail/exported/graph/graph.hpp>

namespace heatpp::nn::detail {

/// What the nodes of a graph belong to, and what is learnt from them.
struct Surroundings {
  std::function<const torch::nn::Module*(const std::string& name)> module_of;  ///< the part of this name, or around it
  /// Inputs of the graph that count batches, by those that are the running means beside them.
  std::map<std::string, std::string> counters = {};
  std::vector<std::pair<const torch::nn::Module*, bool>> modes =
      {};         ///< found: whether these were exported in training
  int depth = 0;  ///< graphs around this one
};

/// Makes a graph of its JSON. Throws Malformed with the node's name for operators that LibTorch has not, arguments that
/// they do not take, and values that no node before has given.
[[nodiscard]] Graph graph_of(const nlohmann::json& graph, Surroundings& around);

/// Whether LibTorch has the operator "torch.ops.aten.add.Tensor"; whether a node of any target can be computed.
[[nodiscard]] bool has_operator(const std::string& target);
[[nodiscard]] bool is_known(const std::string& target);

/// Where the values go that a node gives: one number for each, several for a list, none for what nobody names.
struct Results {
  std::vector<std::vector<std::size_t>> numbers = {};
  std::vector<bool> is_list = {};
};
/// Gives the outputs of a node their numbers.
[[nodiscard]] Results results_of(const nlohmann::json& node, Names& names, const std::string& where);
void put(const Results& results, std::vector<c10::IValue> values, Frame& frame);

/// A node as its JSON has it.
struct Node {
  const nlohmann::json& json;
  std::string name, target, where;
};
/// A node that calls one of LibTorch's operators; one that computes with numbers; one that has graphs as arguments.
[[nodiscard]] Step operator_step(const Node& node, Names& names, Surroundings& around);
[[nodiscard]] Step number_step(const Node& node, Names& names);
[[nodiscard]] Step graph_step(const Node& node, Names& names, Surroundings& around);

}  // namespace heatpp::nn::detail
