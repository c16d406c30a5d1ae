#include <heatpp_nn/models/detail/exported/graph/builder.hpp>
#include <heatpp_nn/models/detail/exported/graph/counters.hpp>
#include <heatpp_nn/models/detail/exported/malformed.hpp>

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/nn/module.h>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace heatpp::nn::detail {

using nlohmann::json;

namespace {

constexpr std::string_view operators = "torch.ops.";

/// Finds "torch.ops.aten.add.Tensor" as aten::add.Tensor; nullopt if LibTorch lacks it, or if it would open files.
std::optional<c10::OperatorHandle> found_operator(std::string_view target) {
  target.remove_prefix(operators.size());
  const auto first = target.find('.'), last = target.rfind('.');
  if (first == std::string_view::npos || first == last) return {};
  const std::string space(target.substr(0, first)), name(target.substr(first + 1, last - first - 1)),
      overload(target.substr(last + 1));
  if (space == "aten" && name == "from_file") return {};
  return c10::Dispatcher::singleton().findSchema({space + "::" + name, overload == "default" ? "" : overload});
}

/// Returns the part of the network in which a node was recorded, the innermost of "key,name,type;key,name,type". If a
/// part is called again it has the name "norm@1".
std::string part_of(const json& node) {
  const auto* const metadata = optional_member(node, "metadata");
  const auto* const stack = metadata ? optional_member(*metadata, "nn_module_stack") : nullptr;
  if (!stack || !stack->is_string()) return "";
  auto text = stack->get<std::string>();
  text.erase(0, text.rfind(';') + 1);
  const auto begin = text.find(',');
  if (begin == std::string::npos) return "";
  const auto name = text.substr(begin + 1, text.find(',', begin + 1) - begin - 1);
  return name.substr(0, name.find('@'));
}

/// A node's arguments by the names of the operator's parameters.
class OperatorArguments {
 public:
  OperatorArguments(const Node& node, const c10::FunctionSchema& schema) : node_(node), schema_(schema) {
    for (const auto& input : list_of(member(node.json, "inputs", node.where), node.where)) {
      auto name = text_of(member(input, "name", node.where), node.where);
      if (!schema.argumentIndexWithName(name))
        malformed("{} with the argument \"{}\", which {} has not", node.where, name, schema.name());
      given_[name] = &member(input, "arg", node.where);
    }
  }
  /// Returns the argument, or nullptr if it is not given.
  [[nodiscard]] const json* find(const std::string& name) const {
    const auto found = given_.find(name);
    return found == given_.end() ? nullptr : found->second;
  }
  [[nodiscard]] Operand operand(const c10::Argument& formal, const Names& names) const {
    if (const auto* const argument = find(formal.name()))
      return operand_of(*argument, names, &formal, node_.where + ", argument \"" + formal.name() + "\"");
    if (!formal.default_value()) malformed("{} without the argument \"{}\"", node_.where, formal.name());
    return {.constant = *formal.default_value()};
  }
  [[nodiscard]] bool is_none(const std::string& name) const {
    const auto* const argument = find(name);
    return !argument || argument->contains("as_none");
  }
  /// Returns the name of a tensor argument; "" if there is none.
  [[nodiscard]] std::string tensor(const std::string& name) const {
    const auto* const argument = find(name);
    return argument ? name_of_tensor(*argument) : "";
  }
  [[nodiscard]] const c10::FunctionSchema& schema() const { return schema_; }

 private:
  const Node& node_;
  const c10::FunctionSchema& schema_;
  std::map<std::string, const json*> given_;
};

/// Whether a layer keeps statistics; others normalise by the batch alone, in training and in evaluation.
bool keeps_statistics(const OperatorArguments& arguments) {
  const auto& schema = arguments.schema();
  if (schema.argumentIndexWithName("running_mean")) return !arguments.is_none("running_mean");
  return schema.name().find("norm") == std::string::npos;
}

/// Whether the mode of a module decides on an argument: flags of dropout, normalisation and recurrent layers, and the
/// dropout of attention, which is 0 in evaluation.
bool follows_mode(const c10::Argument& formal, const Operand& operand, const OperatorArguments& arguments) {
  if (operand.kind != Operand::Kind::constant) return false;
  const auto& name = formal.name();
  if (name == "train" || name == "training" || name == "use_input_stats")
    return operand.constant.isBool() && keeps_statistics(arguments);
  return name == "dropout_p" && arguments.schema().name().find("scaled_dot_product") != std::string::npos &&
         operand.constant.isDouble() && operand.constant.toDouble() > 0;
}

void follow(Operand& operand, const torch::nn::Module* module, Surroundings& around) {
  const bool is_flag = operand.constant.isBool();
  around.modes.emplace_back(module, !is_flag || operand.constant.toBool());
  operand = {.kind = Operand::Kind::mode,
             .constant = is_flag ? c10::IValue(true) : operand.constant,
             .otherwise = is_flag ? c10::IValue(false) : c10::IValue(0.0),
             .module = module};
}

/// Returns the count of batches that belongs to a layer's running mean, if the layer has to count them.
std::string counter_beside(const OperatorArguments& arguments, const Surroundings& around) {
  const auto found = around.counters.find(arguments.tensor("running_mean"));
  return found == around.counters.end() ? "" : found->second;
}

bool counts_batches(const Node& node, const Surroundings& around) {
  if (node.target != counting_operator) return false;
  return std::ranges::any_of(around.counters, [&](const auto& entry) {
    const auto& inputs = member(node.json, "inputs", node.where);
    return name_of_tensor(member(inputs[0], "arg", node.where)) == entry.second;
  });
}

struct Call {
  c10::OperatorHandle op;
  std::vector<Operand> operands;
  Results results;

  void operator()(Frame& frame) const {
    std::vector<c10::IValue> stack;
    stack.reserve(std::max(operands.size(), std::size_t{8}));
    for (const auto& operand : operands) stack.push_back(value_of(operand, frame));
    op.callBoxed(stack);
    put(results, std::move(stack), frame);
  }
};

/// Checks the number of results. An operator may give more than the node names.
void check_results(const Results& results, const c10::FunctionSchema& schema, const std::string& where) {
  const auto given = schema.returns().size();
  if (!results.numbers.empty() && results.numbers.size() != given)
    malformed("{} that gives {} values, where {} gives {}", where, results.numbers.size(), schema.name(), given);
}

}  // namespace

bool has_operator(const std::string& target) { return target.starts_with(operators) && found_operator(target); }

Step operator_step(const Node& node, Names& names, Surroundings& around) {
  const auto op = found_operator(node.target);
  if (!op) malformed("{} of an operator that LibTorch has not", node.where);
  const auto& schema = op->schema();
  const OperatorArguments arguments(node, schema);
  const auto* const module = around.module_of(part_of(node.json));
  Step step{node.name, node.target};
  std::vector<Operand> operands;
  std::size_t flag = schema.arguments().size();
  for (const auto& formal : schema.arguments()) {
    operands.push_back(arguments.operand(formal, names));
    add_uses(operands.back(), step.uses);
    if (!follows_mode(formal, operands.back(), arguments)) continue;
    flag = operands.size() - 1;
    follow(operands.back(), module, around);
  }
  Call call{*op, std::move(operands), results_of(node.json, names, node.where)};
  check_results(call.results, schema, node.where);
  for (const auto& numbers : call.results.numbers) step.gives.insert(step.gives.end(), numbers.begin(), numbers.end());
  if (counts_batches(node, around)) return step;
  const auto counter = flag < call.operands.size() ? counter_beside(arguments, around) : "";
  if (counter.empty()) {
    step.run = std::move(call);
    return step;
  }
  const auto count = names.at(counter, node.where).number;
  step.uses.push_back(count);
  step.run = [call = std::move(call), count, module](Frame& frame) {
    if (const at::NoGradGuard no_grad; module->is_training()) frame.values[count].toTensor().add_(1);
    call(frame);
  };
  return step;
}

}  // namespace heatpp::nn::detail
