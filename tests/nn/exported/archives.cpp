#include "archives.hpp"

#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/numpy/detail/zip.hpp>

#include <zlib.h>

#include <fstream>

using nlohmann::json;
namespace ht = heatpp;

namespace {

constexpr int float64 = 8, int64 = 5;

json sizes_of(const std::vector<int>& sizes) {
  auto list = json::array();
  for (const auto size : sizes) list.push_back({{"as_int", size}});
  return list;
}

json meta(const std::vector<int>& sizes, int dtype, bool requires_grad) {
  std::vector<int> strides(sizes.size(), 1);
  for (auto i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return {{"dtype", dtype},
          {"sizes", sizes_of(sizes)},
          {"requires_grad", requires_grad},
          {"device", {{"type", "cpu"}, {"index", nullptr}}},
          {"strides", sizes_of(strides)},
          {"storage_offset", {{"as_int", 0}}},
          {"layout", 7}};
}

json tensor(const std::string& name) { return {{"as_tensor", {{"name", name}}}}; }

json node_of(const std::string& name, const std::string& target, const std::string& part, const json& arguments) {
  auto inputs = json::array();
  for (const auto& argument : arguments) inputs.push_back({{"name", argument[0]}, {"arg", argument[1]}, {"kind", 1}});
  return {{"target", target},
          {"inputs", inputs},
          {"outputs", json::array({tensor(name)})},
          {"metadata", {{"nn_module_stack", "L__self__,,Net;L__self__" + part + "," + part + ",Layer"}}},
          {"name", name}};
}

json nodes() {
  const auto pair = [](const char* name, const json& value) { return json::array({name, value}); };
  auto all = json::array();
  all.push_back(node_of(
      "linear", "torch.ops.aten.linear.default", "layers.linear",
      json::array({pair("input", tensor("x")), pair("weight", tensor("p_weight")), pair("bias", tensor("p_bias"))})));
  all.push_back(node_of("count", "torch.ops.aten.add_.Tensor", "layers.norm",
                        json::array({pair("self", tensor("b_count")), pair("other", {{"as_int", 1}})})));
  all.push_back(node_of("norm", "torch.ops.aten.batch_norm.default", "layers.norm",
                        json::array({pair("input", tensor("linear")), pair("weight", {{"as_none", true}}),
                                     pair("bias", {{"as_none", true}}), pair("running_mean", tensor("b_mean")),
                                     pair("running_var", tensor("b_var")), pair("training", {{"as_bool", true}}),
                                     pair("momentum", {{"as_float", 0.5}}), pair("eps", {{"as_float", 1e-5}}),
                                     pair("cudnn_enabled", {{"as_bool", false}})})));
  all.push_back(node_of("dropout", "torch.ops.aten.dropout.default", "dropout",
                        json::array({pair("input", tensor("norm")), pair("p", {{"as_float", 0.5}}),
                                     pair("train", {{"as_bool", true}})})));
  all.push_back(node_of("mul", "torch.ops.aten.mul.Tensor", "",
                        json::array({pair("self", tensor("dropout")), pair("other", tensor("b_scale"))})));
  return all;
}

struct Stored {
  std::string input, name, kind;
  std::vector<int> sizes;
  int dtype;
  bool persistent = true;
};
const std::vector<Stored> all_stored{{"p_weight", "layers.linear.weight", "parameter", {3, 5}, float64},
                                     {"p_bias", "layers.linear.bias", "parameter", {3}, float64},
                                     {"b_mean", "layers.norm.running_mean", "buffer", {3}, float64},
                                     {"b_var", "layers.norm.running_var", "buffer", {3}, float64},
                                     {"b_count", "layers.norm.num_batches_tracked", "buffer", {}, int64},
                                     {"b_scale", "scale", "buffer", {}, float64, false}};

constexpr auto in_spec =
    R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [{"type": "builtins.tuple", "context": "null",
"children_spec": [{"type": null, "context": null, "children_spec": []}]}, {"type": "builtins.dict", "context": "[]",
"children_spec": []}]}])";
constexpr auto out_spec = R"([1, {"type": null, "context": null, "children_spec": []}])";

std::string raw(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()};
}

}  // namespace

ExportedFiles::ExportedFiles() {
  auto inputs = json::array(), values = json::object(), specs = json::array();
  weights["config"] = constants["config"] = json::object();
  const auto generator = at::detail::createCPUGenerator(5);
  for (const auto& stored : all_stored) {
    const bool is_parameter = stored.kind == "parameter";
    const std::vector<std::int64_t> sizes(stored.sizes.begin(), stored.sizes.end());
    auto contents = torch::rand(sizes, generator, torch::kDouble);
    if (stored.dtype == int64) contents = torch::zeros({}, torch::kLong);
    const auto path = "tensor_" + std::to_string(more.size());
    more[(stored.persistent ? "data/weights/" : "data/constants/") + path] = raw(contents);
    const auto info = meta(stored.sizes, stored.dtype, is_parameter);
    (stored.persistent ? weights : constants)["config"][stored.name] = {
        {"path_name", path}, {"is_param", is_parameter}, {"use_pickle", false}, {"tensor_meta", info}};
    inputs.push_back(tensor(stored.input));
    values[stored.input] = info;
    json spec{{"arg", {{"name", stored.input}}}, {stored.kind + "_name", stored.name}};
    if (!is_parameter) spec["persistent"] = stored.persistent;
    specs.push_back({{stored.kind, spec}});
  }
  inputs.push_back(tensor("x"));
  values["x"] = meta({4, 5}, float64, false);
  values["x"]["sizes"][0] = {{"as_expr", {{"expr_str", "Symbol('s77', positive=True, integer=True)"}}}};
  values["mul"] = meta({4, 3}, float64, true);
  values["mul"]["sizes"][0] = values["x"]["sizes"][0];
  specs.push_back({{"user_input", {{"arg", tensor("x")}}}});
  const json call{{"in_spec", in_spec}, {"out_spec", out_spec}, {"forward_arg_names", json::array({"x"})}};
  const json graph{
      {"inputs", inputs}, {"outputs", json::array({tensor("mul")})}, {"nodes", nodes()}, {"tensor_values", values}};
  const json signature{{"input_specs", specs},
                       {"output_specs", json::array({{{"user_output", {{"arg", tensor("mul")}}}}})}};
  program["graph_module"] = {{"graph", graph},
                             {"signature", signature},
                             {"module_call_graph", json::array({{{"fqn", ""}, {"signature", call}},
                                                                {{"fqn", "dropout"}, {"signature", nullptr}}})}};
  program["range_constraints"] = {{"s77", {{"min_val", 2}, {"max_val", 64}}}};
  program["schema_version"] = {{"major", 8}, {"minor", 17}};
  more["archive_format"] = "pt2";
  more["archive_version"] = "0";
  more["byteorder"] = "little";
}

std::string ExportedFiles::bytes() const {
  auto files = more;
  files["models/model.json"] = program.dump();
  files["data/weights/model_weights_config.json"] = weights.dump();
  files["data/constants/model_constants_config.json"] = constants.dump();
  std::string all;
  std::vector<ht::io::detail::ZipMember> members;
  for (const auto& [name, contents] : files) {
    const auto* const first = reinterpret_cast<const Bytef*>(contents.data());
    const auto crc = static_cast<std::uint32_t>(crc32_z(0, first, contents.size()));
    members.push_back({"net/" + name, std::ssize(all), std::ssize(contents), std::ssize(contents), crc});
    all += ht::io::detail::zip_header(members.back()) + contents;
  }
  return all + ht::io::detail::zip_directory(members, std::ssize(all));
}

void write_for_all(const std::string& path, const std::string& bytes) {
  ht::world().barrier();
  if (ht::world().rank() == 0) std::ofstream(path, std::ios::binary) << bytes;
  ht::world().barrier();
}
