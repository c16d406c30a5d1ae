#include <heatpp_nn/models/exported_info.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/models/detail/exported/graph/builder.hpp>
#include <heatpp_nn/models/detail/exported/malformed.hpp>
#include <heatpp_nn/models/detail/exported/program.hpp>
#include <heatpp_nn/models/detail/module_file.hpp>

#include <ATen/ATen.h>

#include <nlohmann/json.hpp>

#include <set>

namespace heatpp::nn {

using nlohmann::json;

namespace {

using detail::member;

using Calls = std::map<std::string, std::int64_t>;

/// Counts the calls, including those of nested graphs.
void count_calls(const json& value, Calls& calls) {
  if (!value.is_structured()) return;
  if (value.is_object() && value.contains("target") && value.contains("inputs"))
    ++calls[detail::text_of(value["target"], "a node")];
  for (const auto& part : value) count_calls(part, calls);
}

/// Returns heatpp's name, "float32", or LibTorch's for dtypes that heatpp lacks.
std::string name_of(at::ScalarType dtype) {
  try {
    return std::string(name(heatpp::detail::from_torch(dtype)));
  } catch (const Error&) {
    return at::toString(dtype);
  }
}

ExportedTensor tensor_of(const json& values, const std::string& shown, const std::string& name) {
  const auto info = detail::tensor_info(member(values, name.c_str(), "the graph's tensor_values"), "\"" + name + "\"");
  return {shown, name_of(info.dtype), detail::to_text(info.sizes)};
}

ExportedTensor output_of(const json& values, const std::string& shown, const detail::GraphOutput& output) {
  if (output.kind == detail::GraphOutput::Kind::tensor) return tensor_of(values, shown, output.name);
  return {shown, name_of(output.dtype), detail::to_text(std::vector<detail::Expression>())};
}

void add_tensors(ExportedInfo& info, const detail::Signature& signature, const json& values) {
  for (const auto& input : signature.inputs) {
    using Kind = detail::GraphInput::Kind;
    if (input.kind == Kind::value) continue;
    auto& all = input.kind == Kind::tensor      ? info.inputs
                : input.kind == Kind::parameter ? info.parameters
                                                : info.buffers;
    all.push_back(tensor_of(values, input.kind == Kind::tensor ? input.name : input.target, input.name));
  }
  std::size_t next = 0;
  for (const auto& output : signature.outputs)
    if (output.is_returned()) info.outputs.push_back(output_of(values, signature.output_names.at(next++), output));
}

std::int64_t parameter_count(const detail::Signature& signature, const detail::ExportedWeights& weights) {
  std::set<const void*> seen;
  std::int64_t count = 0;
  for (const auto& input : signature.inputs) {
    if (input.kind != detail::GraphInput::Kind::parameter) continue;
    const auto& tensor = weights.weight(input.target);
    if (seen.insert(tensor.unsafeGetTensorImpl()).second) count += tensor.numel();
  }
  return count;
}

ExportedInfo info_of(detail::ExportedArchive archive) {
  const auto program = detail::json_of(archive);
  const auto signature = detail::signature_of(program);
  const auto& graph = member(member(program, "graph_module", "the program"), "graph", "the program");
  const auto& version = member(program, "schema_version", "the program");
  ExportedInfo info;
  info.schema = heatpp::detail::formatted("{}.{}", member(version, "major", "the schema").dump(),
                                          member(version, "minor", "the schema").dump());
  if (const auto* const torch = detail::optional_member(program, "torch_version"))
    info.torch_version = detail::text_of(*torch, "torch_version");
  add_tensors(info, signature, member(graph, "tensor_values", "the graph"));
  info.parameter_count = parameter_count(signature, detail::ExportedWeights(archive));
  for (const auto& [symbol, range] : signature.ranges) info.ranges.push_back(detail::to_text(symbol, range));
  Calls calls;
  count_calls(member(graph, "nodes", "the graph"), calls);
  for (const auto& [target, count] : calls) info.operators.push_back({target, count, detail::is_known(target)});
  return info;
}

}  // namespace

ExportedInfo exported_info(const std::string& path, const LoadModuleOptions& options) {
  const auto file = detail::file_for_all("exported_info", path, comm_of(options.comm));
  ExportedInfo info;
  all_or_none(file.comm,
              [&] { detail::in_file(path, [&] { info = info_of(detail::ExportedArchive(file.bytes, path)); }); });
  return info;
}

}  // namespace heatpp::nn
