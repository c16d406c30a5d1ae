#include <heatpp_nn/models/detail/exported/signature.hpp>

#include <heatpp_nn/models/detail/exported/malformed.hpp>
#include <heatpp_nn/models/detail/exported/tree.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace heatpp::nn::detail {

using nlohmann::json;

namespace {

constexpr auto where_input = "an input of the graph's signature", where_output = "an output of the graph's signature",
               where_call = "the network's call";

std::string name_in(const json& argument, const char* where) { return text_of(member(argument, "name", where), where); }

GraphInput input_of(const json& spec) {
  using Kind = GraphInput::Kind;
  const auto choice = choice_of(spec, where_input);
  const auto& kind = choice.kind;
  const auto& value = choice.value;
  const auto of_module = [&](Kind what, const char* key) {
    return GraphInput{what, name_in(member(value, "arg", where_input), where_input),
                      text_of(member(value, key, where_input), where_input)};
  };
  if (kind == "parameter") return of_module(Kind::parameter, "parameter_name");
  if (kind == "tensor_constant") return of_module(Kind::constant, "tensor_constant_name");
  if (kind == "constant_input") return {Kind::value, name_in(value, where_input)};
  if (kind == "buffer") {
    auto input = of_module(Kind::buffer, "buffer_name");
    input.persistent = truth_of(member(value, "persistent", where_input), where_input);
    return input;
  }
  if (kind != "user_input") malformed("an input of the kind \"{}\"", kind);
  const auto argument = choice_of(member(value, "arg", where_input), where_input);
  if (argument.kind == "as_tensor") return {Kind::tensor, name_in(argument.value, where_input)};
  if (argument.kind == "as_none") return {Kind::value, ""};
  malformed("an input of the network's that is \"{}\" and no tensor", argument.kind);
}

/// Returns the dtype of a number that the network returns: Python's int, float or bool, constant or symbolic.
std::optional<at::ScalarType> dtype_of_number(std::string_view kind) {
  constexpr std::pair<std::string_view, at::ScalarType> known[] = {
      {"as_int", at::kLong},     {"as_float", at::kDouble},     {"as_bool", at::kBool},
      {"as_sym_int", at::kLong}, {"as_sym_float", at::kDouble}, {"as_sym_bool", at::kBool}};
  const auto* const found = std::ranges::find(known, kind, &std::pair<std::string_view, at::ScalarType>::first);
  return found == std::end(known) ? std::nullopt : std::optional(found->second);
}

/// `name` is that of the output in what the network returns, for errors.
GraphOutput output_of(const json& spec, const std::string& name) {
  using Kind = GraphOutput::Kind;
  const auto of_spec = choice_of(spec, where_output);
  const auto& kind = of_spec.kind;
  const auto& value = of_spec.value;
  const auto& argument = member(value, "arg", where_output);
  const auto written = [&](Kind what, const char* key) {
    return GraphOutput{what, name_in(argument, where_output), text_of(member(value, key, where_output), where_output)};
  };
  if (kind == "buffer_mutation") return written(Kind::buffer, "buffer_name");
  if (kind == "parameter_mutation") return written(Kind::parameter, "parameter_name");
  if (kind == "user_input_mutation") return written(Kind::input, "user_input_name");
  if (kind != "user_output") malformed("an output of the kind \"{}\"", kind);
  const auto choice = choice_of(argument, where_output);
  if (choice.kind == "as_none") return {Kind::none, ""};
  if (choice.kind == "as_tensor") return {Kind::tensor, name_in(choice.value, where_output)};
  if (const auto dtype = dtype_of_number(choice.kind)) return {.kind = Kind::number, .name = "", .dtype = *dtype};
  malformed("the output{}{} that is \"{}\", where tensors and numbers are read", name.empty() ? "" : " ", name,
            choice.kind);
}

/// Returns the entry of the network itself, which precedes those of its parts.
const json& call_of(const json& entries) {
  for (const auto& entry : list_of(entries, where_call))
    if (text_of(member(entry, "fqn", where_call), where_call).empty()) return member(entry, "signature", where_call);
  malformed("no entry of the network in its module_call_graph");
}

std::vector<std::string> parts_of(const json& entries) {
  std::vector<std::string> parts;
  for (const auto& entry : list_of(entries, where_call))
    parts.push_back(text_of(member(entry, "fqn", where_call), where_call));
  return parts;
}

/// Returns the names of positional, then of other arguments, each with the values that it takes.
std::vector<std::pair<std::string, Tree>> arguments_of(const json& call) {
  const auto tree = tree_of(text_of(member(call, "in_spec", where_call), where_call), "the network's in_spec");
  if (tree.children.size() != 2) malformed("an in_spec of {} parts, where 2 are read", tree.children.size());
  std::vector<std::pair<std::string, Tree>> arguments;
  const auto* const names = optional_member(call, "forward_arg_names");
  for (const auto& child : tree.children[0].children) {
    const auto i = arguments.size();
    const bool named = names && names->is_array() && i < names->size() && (*names)[i].is_string();
    arguments.emplace_back(named ? (*names)[i].get<std::string>() : "input" + std::to_string(i), child);
  }
  for (std::size_t i = 0; i < tree.children[1].children.size(); ++i)
    arguments.emplace_back(tree.children[1].keys[i], tree.children[1].children[i]);
  return arguments;
}

/// Finds parameters of `forward`. `given` are the graph's inputs from the caller: tensors, and values of the export.
std::vector<ForwardParameter> parameters_of(const json& call, const std::vector<GraphInput>& given) {
  std::vector<ForwardParameter> parameters;
  std::size_t next = 0, tensors = 0;
  for (const auto& [name, tree] : arguments_of(call)) {
    ForwardParameter parameter{.name = name, .is_single = tree.is_leaf, .is_dict = tree.is_dict};
    for (const auto& leaf : names_of(tree)) {
      if (next == given.size()) malformed("an in_spec of more values than the graph's {} inputs", given.size());
      if (given[next++].kind != GraphInput::Kind::tensor) continue;
      parameter.inputs.push_back(tensors++);
      parameter.names.push_back(leaf);
    }
    if (!parameter.inputs.empty()) parameters.push_back(std::move(parameter));
  }
  if (next != given.size()) malformed("an in_spec of {} values for {} inputs of the graph", next, given.size());
  return parameters;
}

/// Reads the roles of the graph's outputs, and the names of those that the network returns.
void read_outputs(const json& specs, const json& call, Signature& signature) {
  using Kind = GraphOutput::Kind;
  const auto tree = tree_of(text_of(member(call, "out_spec", where_call), where_call), "the network's out_spec");
  const auto names = names_of(tree);
  std::size_t next = 0;
  for (const auto& spec : list_of(member(specs, "output_specs", where_output), where_output)) {
    const auto name = next < names.size() ? names[next] : "";
    const auto& output = signature.outputs.emplace_back(output_of(spec, name));
    if (output.is_returned()) signature.output_names.push_back(name);
    if (output.is_returned() || output.kind == Kind::none) ++next;
  }
  if (next != names.size()) malformed("an out_spec of {} values for {} outputs of the graph", names.size(), next);
  signature.gives_dict = tree.is_dict;
}

std::optional<std::int64_t> bound_of(const json& range, const char* key, const std::string& symbol) {
  const auto* const value = optional_member(range, key);
  return value ? std::optional(whole_of(*value, "the range of " + symbol)) : std::nullopt;
}

std::map<std::string, ExportedRange> ranges_of(const json& program) {
  std::map<std::string, ExportedRange> ranges;
  const auto* const all = optional_member(program, "range_constraints");
  if (!all) return ranges;
  for (const auto& [symbol, range] : object_of(*all, "range_constraints").items())
    ranges[symbol] = {bound_of(range, "min_val", symbol), bound_of(range, "max_val", symbol)};
  return ranges;
}

}  // namespace

std::string to_text(const std::string& name, const ExportedRange& range) {
  const auto bound = [](const auto& value) { return value ? std::to_string(*value) : std::string("any"); };
  return heatpp::detail::formatted("{} from {} to {}", name, bound(range.low), bound(range.high));
}

Signature signature_of(const json& program) {
  const auto& module = member(program, "graph_module", "the program");
  const auto& specs = member(module, "signature", "the program");
  Signature signature;
  std::vector<GraphInput> given;
  for (const auto& spec : list_of(member(specs, "input_specs", where_input), where_input)) {
    signature.inputs.push_back(input_of(spec));
    const auto kind = signature.inputs.back().kind;
    if (kind == GraphInput::Kind::tensor || kind == GraphInput::Kind::value) given.push_back(signature.inputs.back());
  }
  const auto& entries = member(module, "module_call_graph", "the program");
  const auto& call = call_of(entries);
  signature.parameters = parameters_of(call, given);
  read_outputs(specs, call, signature);
  signature.parts = parts_of(entries);
  signature.ranges = ranges_of(program);
  return signature;
}

}  // namespace heatpp::nn::detail
