#include <heatpp_nn/models/detail/exported/graph/builder.hpp>
#include <heatpp_nn/models/detail/exported/malformed.hpp>
#include <heatpp_nn/models/detail/exported/graph/numbers.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace heatpp::nn::detail {

using nlohmann::json;

namespace {

constexpr std::array graph_functions{"wrap_with_set_grad_enabled", "wrap_with_autocast", "cond"};
constexpr std::string_view operator_prefix = "torch.ops.", graph_prefix = "torch.ops.higher_order.";
/// An operator that checks a tensor's metadata, which differ on another device or for weights of another dtype.
constexpr std::string_view metadata_check = "torch.ops.aten._assert_tensor_metadata.default";

Names::Kind kind_of(std::string_view kind, const std::string& where) {
  if (kind == "as_tensor") return Names::Kind::tensor;
  if (kind == "as_sym_int") return Names::Kind::whole;
  if (kind == "as_sym_float") return Names::Kind::real;
  if (kind == "as_sym_bool") return Names::Kind::truth;
  malformed("{} with a value of the kind \"{}\"", where, kind);
}

/// Returns the name of a tensor, or of a number that is known in a call; "" for a constant.
std::string name_of(const Choice& choice, const std::string& where) {
  if (choice.kind == "as_tensor") return text_of(member(choice.value, "name", where), where);
  const auto* const name = optional_member(choice.value, "as_name");
  return name ? text_of(*name, where) : "";
}

/// Numbers the graph's inputs. Constant inputs, such as {"as_float": 3.0}, are used by no node.
std::vector<std::size_t> inputs_of(const json& graph, Names& names) {
  std::vector<std::size_t> inputs;
  for (const auto& input : list_of(member(graph, "inputs", "the graph"), "the inputs of the graph")) {
    const auto choice = choice_of(input, "an input of the graph");
    const auto name = name_of(choice, "an input of the graph");
    inputs.push_back(name.empty() ? names.add("input " + std::to_string(inputs.size()), Names::Kind::real, "the graph")
                                  : names.add(name, kind_of(choice.kind, "an input"), "the graph"));
  }
  return inputs;
}

Node node_of(const json& value, std::size_t number) {
  const auto place = "node " + std::to_string(number);
  Node node{value, place, text_of(member(value, "target", place), place), ""};
  if (const auto* const name = optional_member(value, "name")) node.name = text_of(*name, place);
  node.where = heatpp::detail::formatted("the node \"{}\" ({})", node.name, node.target);
  return node;
}

Step step_of(const Node& node, Names& names, Surroundings& around) {
  if (node.target.starts_with(graph_prefix)) return graph_step(node, names, around);
  if (node.target.starts_with(operator_prefix)) return operator_step(node, names, around);
  return number_step(node, names);
}

std::vector<Operand> outputs_of(const json& graph, const Names& names) {
  std::vector<Operand> outputs;
  for (const auto& output : list_of(member(graph, "outputs", "the graph"), "the outputs of the graph"))
    outputs.push_back(operand_of(output, names, nullptr, "an output of the graph"));
  return outputs;
}

}  // namespace

Results results_of(const json& node, Names& names, const std::string& where) {
  Results results;
  const auto add = [&](const Choice& choice) {
    const auto name = choice.kind == "as_none" ? "" : name_of(choice, where);
    if (!name.empty()) results.numbers.back().push_back(names.add(name, kind_of(choice.kind, where), where));
  };
  const auto& outputs = list_of(member(node, "outputs", where), where);
  if (outputs.size() == 1 && outputs[0].contains("as_none")) return results;
  for (const auto& output : outputs) {
    const auto choice = choice_of(output, where);
    results.numbers.emplace_back();
    results.is_list.push_back(choice.kind == "as_tensors");
    if (choice.kind != "as_tensors") add(choice);
    else
      for (const auto& part : list_of(choice.value, where)) add({"as_tensor", part});
  }
  return results;
}

void put(const Results& results, std::vector<c10::IValue> values, Frame& frame) {
  const auto check = [](std::size_t got, std::size_t expected) {
    if (got != expected)
      throw std::length_error(heatpp::detail::formatted("{} values, where the graph has {}", got, expected));
  };
  if (!results.numbers.empty()) check(values.size(), results.numbers.size());
  for (std::size_t i = 0; i < results.numbers.size(); ++i) {
    const auto& numbers = results.numbers[i];
    if (!results.is_list[i]) {
      if (!numbers.empty()) frame.values[numbers.front()] = std::move(values[i]);
      continue;
    }
    auto list = values[i].toTensorVector();
    check(list.size(), numbers.size());
    for (std::size_t k = 0; k < list.size(); ++k) frame.values[numbers[k]] = std::move(list[k]);
  }
}

Step number_step(const Node& node, Names& names) {
  const auto& inputs = list_of(member(node.json, "inputs", node.where), node.where);
  const auto function = number_function(node.target, inputs.size());
  if (!function) malformed("{} of {} numbers, which is not known", node.where, inputs.size());
  Step step{node.name, node.target};
  std::vector<Operand> operands;
  for (const auto& input : inputs) {
    operands.push_back(operand_of(member(input, "arg", node.where), names, nullptr, node.where));
    add_uses(operands.back(), step.uses);
  }
  const auto results = results_of(node.json, names, node.where);
  if (results.numbers.size() != 1 || results.is_list[0])
    malformed("{} that gives {} values, where it is one", node.where, results.numbers.size());
  step.gives = results.numbers[0];
  step.run = [=](Frame& frame) {
    std::vector<c10::IValue> values;
    for (const auto& operand : operands) values.push_back(value_of(operand, frame));
    for (const auto& value : values)
      if (!value.isScalar()) throw std::domain_error("a value that is no number");
    put(results, {function(values)}, frame);
  };
  return step;
}

bool is_known(const std::string& target) {
  if (target.starts_with(graph_prefix))
    return std::ranges::any_of(graph_functions, [&](auto name) { return target == std::string(graph_prefix) + name; });
  if (target.starts_with(operator_prefix)) return has_operator(target);
  return number_function(target, 1) || number_function(target, 2) || number_function(target, 3);
}

Graph graph_of(const json& graph, Surroundings& around) {
  constexpr int deepest = 16;
  if (around.depth > deepest) malformed("graphs in graphs, {} levels of them", around.depth);
  Names names;
  auto inputs = inputs_of(graph, names);
  std::vector<Step> steps;
  std::size_t number = 0;
  for (const auto& value : list_of(member(graph, "nodes", "the graph"), "the nodes of the graph")) {
    const auto node = node_of(value, number++);
    if (node.target == metadata_check) continue;
    auto step = step_of(node, names, around);
    if (step.run) steps.push_back(std::move(step));
  }
  auto outputs = outputs_of(graph, names);
  return {std::move(inputs), std::move(steps), std::move(outputs), names.count()};
}

}  // namespace heatpp::nn::detail
