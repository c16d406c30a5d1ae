#include <heatpp_nn/models/detail/exported/graph/builder.hpp>
#include <heatpp_nn/models/detail/exported/malformed.hpp>

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>

#include <nlohmann/json.hpp>

namespace heatpp::nn::detail {

using nlohmann::json;

namespace {

/// Switches autocast on or off for its lifetime.
class AutocastRegion {
 public:
  AutocastRegion(at::DeviceType device, at::ScalarType dtype, bool on)
      : device_(device),
        was_on_(at::autocast::is_autocast_enabled(device)),
        former_(at::autocast::get_autocast_dtype(device)) {
    at::autocast::set_autocast_dtype(device_, dtype);
    at::autocast::set_autocast_enabled(device_, on);
    at::autocast::increment_nesting();
  }
  ~AutocastRegion() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, was_on_);
    at::autocast::set_autocast_dtype(device_, former_);
  }
  AutocastRegion(const AutocastRegion&) = delete;
  AutocastRegion& operator=(const AutocastRegion&) = delete;

 private:
  at::DeviceType device_;
  bool was_on_;
  at::ScalarType former_;
};

/// The arguments of a node that has graphs among them.
class Arguments {
 public:
  Arguments(const Node& node, const Names& names, Surroundings& around) : node_(node), names_(names), around_(around) {
    for (const auto& input : list_of(member(node.json, "inputs", node.where), node.where))
      given_.push_back(&member(input, "arg", node.where));
  }
  [[nodiscard]] std::size_t size() const { return given_.size(); }
  [[nodiscard]] const json& at(std::size_t i) const {
    if (i >= given_.size()) malformed("{} of {} arguments, where it has more", node_.where, given_.size());
    return *given_[i];
  }
  [[nodiscard]] Operand operand(std::size_t i) const { return operand_of(at(i), names_, nullptr, node_.where); }
  [[nodiscard]] c10::IValue constant(std::size_t i) const {
    const auto found = operand(i);
    if (found.kind != Operand::Kind::constant) malformed("{} with a value in place of a constant", node_.where);
    return found.constant;
  }
  [[nodiscard]] bool truth(std::size_t i) const {
    const auto value = constant(i);
    return value.isBool() ? value.toBool() : (malformed("{} without true or false", node_.where), false);
  }
  [[nodiscard]] Graph graph(std::size_t i) const {
    const auto& nested = member(member(at(i), "as_graph", node_.where), "graph", node_.where);
    Surroundings within{.module_of = around_.module_of, .depth = around_.depth + 1};
    auto graph = graph_of(nested, within);
    around_.modes.insert(around_.modes.end(), within.modes.begin(), within.modes.end());
    return graph;
  }
  /// Returns the operands from the i-th on, with lists expanded.
  [[nodiscard]] std::vector<Operand> rest(std::size_t i) const {
    std::vector<Operand> operands;
    for (; i < size(); ++i) {
      auto found = operand(i);
      if (found.kind != Operand::Kind::tensors) operands.push_back(std::move(found));
      else operands.insert(operands.end(), found.parts.begin(), found.parts.end());
    }
    return operands;
  }

 private:
  const Node& node_;
  const Names& names_;
  Surroundings& around_;
  std::vector<const json*> given_;
};

std::optional<at::ScalarType> dtype_or_none(const c10::IValue& value) {
  return value.isInt() ? std::optional(static_cast<at::ScalarType>(value.toInt())) : std::nullopt;
}

std::vector<c10::IValue> values_of(const std::vector<Operand>& operands, const Frame& frame) {
  std::vector<c10::IValue> values;
  for (const auto& operand : operands) values.push_back(value_of(operand, frame));
  return values;
}

using Compute = std::function<std::vector<c10::IValue>(Frame&)>;

void check_fits(const Graph& graph, const std::vector<Operand>& operands, const Node& node) {
  if (graph.inputs() != operands.size())
    malformed("{} with {} arguments for a graph of {} inputs", node.where, operands.size(), graph.inputs());
}

/// wrap_with_set_grad_enabled(on, graph, *operands)
Compute with_gradients(const Node& node, const Arguments& arguments, std::vector<Operand>& operands) {
  const bool on = arguments.truth(0);
  operands = arguments.rest(2);
  auto graph = arguments.graph(1);
  check_fits(graph, operands, node);
  return [on, operands, graph = std::move(graph)](Frame& frame) {
    const at::AutoGradMode gradients(on);
    return graph.run(values_of(operands, frame), frame.device);
  };
}

/// wrap_with_autocast(device, dtype, on, cache, graph, *operands)
Compute with_autocast(const Node& node, const Arguments& arguments, std::vector<Operand>& operands) {
  const auto dtype = dtype_or_none(arguments.constant(1));
  if (dtype && !at::isFloatingType(*dtype)) malformed("{} with another dtype than a floating one", node.where);
  const bool on = arguments.truth(2);
  operands = arguments.rest(5);
  auto graph = arguments.graph(4);
  check_fits(graph, operands, node);
  return [on, dtype, operands, graph = std::move(graph)](Frame& frame) {
    const auto device = frame.device.type();
    const AutocastRegion region(device, dtype.value_or(at::autocast::get_autocast_dtype(device)), on);
    return graph.run(values_of(operands, frame), frame.device);
  };
}

/// cond(predicate, graph, graph, operands)
Compute conditional(const Node& node, const Arguments& arguments, std::vector<Operand>& operands) {
  const auto predicate = arguments.operand(0);
  operands = arguments.rest(3);
  auto yes = arguments.graph(1), no = arguments.graph(2);
  check_fits(yes, operands, node);
  check_fits(no, operands, node);
  Compute compute = [=](Frame& frame) {
    const auto value = value_of(predicate, frame);
    const bool holds = value.isTensor() ? value.toTensor().item<bool>() : value.toBool();
    return (holds ? yes : no).run(values_of(operands, frame), frame.device);
  };
  operands.push_back(predicate);
  return compute;
}

Compute compute_of(const Node& node, const Arguments& arguments, std::vector<Operand>& operands) {
  if (node.target.ends_with(".wrap_with_set_grad_enabled")) return with_gradients(node, arguments, operands);
  if (node.target.ends_with(".wrap_with_autocast")) return with_autocast(node, arguments, operands);
  if (node.target.ends_with(".cond")) return conditional(node, arguments, operands);
  malformed("{}, which calls graphs in a way that is not known", node.where);
}

}  // namespace

Step graph_step(const Node& node, Names& names, Surroundings& around) {
  std::vector<Operand> operands;
  const auto compute = compute_of(node, Arguments(node, names, around), operands);
  Step step{node.name, node.target};
  for (const auto& operand : operands) add_uses(operand, step.uses);
  // The outputs of a nested graph, without lists.
  Results flat;
  for (const auto& numbers : results_of(node.json, names, node.where).numbers)
    for (const auto number : numbers) {
      flat.numbers.push_back({number});
      flat.is_list.push_back(false);
      step.gives.push_back(number);
    }
  step.run = [compute, flat](Frame& frame) { put(flat, compute(frame), frame); };
  return step;
}

}  // namespace heatpp::nn::detail
