#include <heatpp_nn/models/detail/exported/graph/counters.hpp>
#include <heatpp_nn/models/detail/exported/malformed.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace heatpp::nn::detail {

using nlohmann::json;

namespace {

constexpr std::string_view mean_ending = ".running_mean", count_ending = ".num_batches_tracked";

using Counts = std::map<std::string, std::size_t>;

/// Counts the names of values in JSON, also in nested graphs.
void count_names(const json& value, Counts& counts) {
  if (value.is_object())
    for (const auto& item : value.items())
      if (item.key() == "name" && item.value().is_string()) ++counts[item.value().get<std::string>()];
  if (value.is_structured())
    for (const auto& part : value) count_names(part, counts);
}

/// Counts the uses of values: as arguments of nodes and as outputs of the graph.
Counts uses_of(const json& graph) {
  Counts counts;
  count_names(member(graph, "outputs", "the graph"), counts);
  for (const auto& node : list_of(member(graph, "nodes", "the graph"), "the nodes of the graph"))
    for (const auto& input : list_of(member(node, "inputs", "a node"), "the arguments of a node"))
      count_names(member(input, "arg", "an argument"), counts);
  return counts;
}

/// Counts for each value the nodes that add 1 to it and whose sum is not used elsewhere.
Counts counted_by_nodes(const json& graph, const Counts& uses) {
  Counts counts;
  for (const auto& node : member(graph, "nodes", "the graph")) {
    const auto& inputs = member(node, "inputs", "a node");
    const auto& outputs = list_of(member(node, "outputs", "a node"), "the values of a node");
    const auto target = text_of(member(node, "target", "a node"), "a node");
    if (target != counting_operator || inputs.size() != 2 || outputs.size() != 1) continue;
    const bool by_one = member(inputs[1], "arg", "an argument") == json{{"as_int", 1}};
    if (by_one && !uses.contains(name_of_tensor(outputs[0])))
      ++counts[name_of_tensor(member(inputs[0], "arg", "an argument"))];
  }
  return counts;
}

/// Returns the running means of batch normalisation. Layers that count no batches name their flag differently.
std::set<std::string> normalised_by(const json& graph) {
  std::set<std::string> means;
  for (const auto& node : member(graph, "nodes", "the graph")) {
    std::string mean;
    bool has_flag = false;
    for (const auto& input : member(node, "inputs", "a node")) {
      const auto name = text_of(member(input, "name", "an argument"), "an argument");
      if (name == "running_mean") mean = name_of_tensor(member(input, "arg", "an argument"));
      has_flag = has_flag || name == "training";
    }
    if (has_flag) means.insert(mean);
  }
  return means;
}

std::size_t count_in(const Counts& counts, const std::string& name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

std::string name_of_tensor(const json& argument) {
  const auto* const tensor = optional_member(argument, "as_tensor");
  const auto* const name = tensor ? optional_member(*tensor, "name") : nullptr;
  return name && name->is_string() ? name->get<std::string>() : "";
}

std::map<std::string, std::string> counters_of(const json& graph, const std::map<std::string, std::string>& buffers) {
  const auto uses = uses_of(graph);
  const auto counted = counted_by_nodes(graph, uses);
  const auto means = normalised_by(graph);
  std::map<std::string, std::string> counters;
  for (const auto& [mean, buffer] : buffers) {
    if (!buffer.ends_with(mean_ending) || !means.contains(mean)) continue;
    const auto wanted = buffer.substr(0, buffer.size() - mean_ending.size()) + std::string(count_ending);
    const auto found = std::ranges::find(buffers, wanted, [](const auto& entry) { return entry.second; });
    if (found != buffers.end() && count_in(uses, found->first) == count_in(counted, found->first))
      counters[mean] = found->first;
  }
  return counters;
}

}  // namespace heatpp::nn::detail
