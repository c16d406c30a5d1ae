#include "../training.hpp"
#include "../../support.hpp"
#include "../scratch_file.hpp"
#include "archives.hpp"

#include <heatpp_nn/models/detail/exported/expression.hpp>
#include <heatpp_nn/models/exported_info.hpp>
#include <heatpp_nn/models/exported_module.hpp>

using namespace heatpp::nn;
using nlohmann::json;

namespace {

const std::string sizes_file_name = "nn_exported_sizes_test";
constexpr auto s17 = "Symbol('s17', positive=True, integer=True)";

json size_of(const std::string& srepr) { return {{"as_expr", {{"expr_str", srepr}, {"hint", {{"as_int", 4}}}}}}; }
const std::string twice = std::string("Mul(Integer(2), ") + s17 + ")";
const std::string odd = "Add(" + twice + ", Integer(-1))";

/// Returns the network of `archives.hpp` with these sizes of its input.
ExportedFiles with_sizes(const json& rows, const json& columns) {
  ExportedFiles files;
  files.graph()["tensor_values"]["x"]["sizes"] = json::array({rows, columns});
  files.program["range_constraints"]["s17"] = {{"min_val", 2}, {"max_val", 3}};
  files.program["range_constraints"]["2*s17 - 1"] = {{"min_val", 3}, {"max_val", 5}};
  return files;
}

std::shared_ptr<ExportedModule> loaded_of(const std::string& path, const ExportedFiles& files) {
  write_for_all(path, files.bytes());
  return std::make_shared<ExportedModule>(path);
}

std::string refusal(ExportedModule& net, std::int64_t rows, std::int64_t columns) {
  return message_of<ht::ValueError>([&] { net.forward(torch::ones({rows, columns}, torch::kDouble)); });
}

/// Adds outputs behind the tensor that the network returns.
void add_outputs(ExportedFiles& files, const std::vector<json>& outputs) {
  auto& graph_module = files.program["graph_module"];
  json leaf{{"type", nullptr}, {"context", nullptr}, {"children_spec", json::array()}};
  auto leaves = json::array({leaf});
  for (const auto& output : outputs) {
    files.graph()["outputs"].push_back(output);
    graph_module["signature"]["output_specs"].push_back({{"user_output", {{"arg", output}}}});
    leaves.push_back(leaf);
  }
  const json tree{{"type", "builtins.tuple"}, {"context", "null"}, {"children_spec", leaves}};
  graph_module["module_call_graph"][0]["signature"]["out_spec"] = json::array({1, tree}).dump();
}

}  // namespace

TEST_CASE("Expressions of SymPy are written and computed as in Python", "[nn][exported]") {
  using namespace heatpp::nn::detail;
  const std::string three = "Mul(Integer(3), Symbol('s38', positive=True, integer=True))";
  const std::string nested = "Mul(Integer(8), FloorDiv(" + three + ", FloorDiv(" + three + ", Integer(2))))";
  const auto text = [](const std::string& srepr) { return to_text(expression_of(srepr)); };

  CHECK(text(twice) == "2*s17");
  CHECK(text(odd) == "2*s17 - 1");
  CHECK(text("Integer(-7)") == "-7");
  CHECK(text(nested) == "8*(3*s38//(3*s38//2))");
  CHECK(text("Mul(Integer(-1), Add(Symbol('a'), Integer(2)))") == "-(a + 2)");
  CHECK(text("Pow(Add(Symbol('a'), Symbol('b')), Integer(2))") == "(a + b)**2");
  CHECK(text("Max(Integer(1), Symbol('a'))") == "Max(1, a)");
  CHECK(text("2*s17") == "2*s17");                             // no srepr
  CHECK(value_of(expression_of(nested), {{"s38", 5}}) == 16);  // 8*(15//(15//2))
  CHECK(value_of(expression_of("Max(Integer(1), Symbol('a'))"), {{"a", 0}}) == 1);
  CHECK_FALSE(value_of(expression_of(nested), {{"s17", 5}}));
  CHECK_FALSE(value_of(expression_of(nested), {{"s38", 0}}));  // a division by zero
  CHECK_FALSE(value_of(expression_of(twice), {{"s17", INT64_MAX}}));
  CHECK(linear_in(expression_of(odd))->solved_for(7) == 4);
  CHECK_FALSE(linear_in(expression_of(odd))->solved_for(6));
  CHECK_FALSE(linear_in(expression_of(nested)));
}

TEST_CASE("Sizes that follow from a symbol are checked before the graph runs", "[nn][exported]") {
  const ScratchFile file{scratch_path(sizes_file_name)};
  const auto s77 = ExportedFiles().graph()["tensor_values"]["x"]["sizes"][0];
  const auto net = loaded_of(file.path, with_sizes(s77, size_of(odd)));

  CHECK(net->forward(torch::ones({4, 5}, torch::kDouble)).sizes() == at::IntArrayRef({4, 3}));
  CHECK_THAT(refusal(*net, 4, 6),
             Catch::StartsWith("[ExportedModule] got the input \"x\" of shape (4, 6), 6 along axis 1 in place of "
                               "2*s17 - 1; expected (s77, 2*s17 - 1), s77 from 2 to 64, 2*s17 - 1 from 3 to 5, s17 "
                               "from 2 to 3, as it was exported"));
  CHECK_THAT(refusal(*net, 4, 7), Catch::Contains("7 along axis 1 in place of 2*s17 - 1;"));
  CHECK_THAT(refusal(*net, 65, 5), Catch::Contains("65 along axis 0 in place of s77;"));

  const auto tied = loaded_of(file.path, with_sizes(size_of(twice), size_of(odd)));
  CHECK(tied->forward(torch::ones({6, 5}, torch::kDouble)).sizes() == at::IntArrayRef({6, 3}));
  CHECK_THAT(refusal(*tied, 4, 5), Catch::Contains("5 along axis 1 in place of 2*s17 - 1 = 3;"));
  CHECK(exported_info(file.path).inputs.at(0).shape == "(2*s17, 2*s17 - 1)");
}

TEST_CASE("Numbers that a network returns are tensors without axes", "[nn][exported]") {
  const ScratchFile file{scratch_path(sizes_file_name)};
  ExportedFiles files;
  files.graph()["nodes"].push_back(
      {{"target", "torch.ops.aten.sym_size.int"},
       {"name", "rows"},
       {"metadata", json::object()},
       {"inputs", json::array({{{"name", "self"}, {"arg", {{"as_tensor", {{"name", "x"}}}}}, {"kind", 1}},
                               {{"name", "dim"}, {"arg", {{"as_int", 0}}}, {"kind", 1}}})},
       {"outputs", json::array({{{"as_sym_int", {{"as_name", "rows"}}}}})}});
  add_outputs(files, {{{"as_sym_int", {{"as_name", "rows"}}}}, {{"as_float", 2.5}}, {{"as_bool", true}}});
  const auto net = loaded_of(file.path, files);
  const auto outputs = net->forward(std::vector<at::Tensor>{torch::ones({6, 5}, torch::kDouble)});

  CHECK(outputs.size() == 4);
  CHECK(equals(outputs[1], torch::tensor(6)));
  CHECK(equals(outputs[2], torch::tensor(2.5, torch::kDouble)));
  CHECK(equals(outputs[3], torch::tensor(true)));
  const auto info = exported_info(file.path);
  CHECK(info.outputs.at(1).name == "1");
  CHECK(info.outputs.at(1).dtype == "int64");
  CHECK(info.outputs.at(1).shape == info.buffers.back().shape);  // that of a tensor without axes

  ExportedFiles texts;
  add_outputs(texts, {{{"as_float", 2.5}}, {{"as_string", "hi"}}});
  write_for_all(file.path, texts.bytes());
  CHECK_THAT(message_of<ht::IoError>([&] { ExportedModule wrong(file.path); }),
             Catch::Contains("the output 2 that is \"as_string\", where tensors and numbers are read"));
}

TEST_CASE("Networks are recognised by their content", "[nn][exported]") {
  const ScratchFile file{scratch_path(sizes_file_name)}, named{scratch_path(sizes_file_name) + ".pt2"};
  const auto bytes = ExportedFiles().bytes();
  write_for_all(file.path, bytes);
  CHECK(std::dynamic_pointer_cast<ExportedModule>(load_module(file.path)));
  write_for_all(named.path, bytes.substr(0, bytes.size() - 100));
  CHECK_THAT(message_of<ht::IoError>([&] { static_cast<void>(load_module(named.path)); }),
             Catch::StartsWith("[ExportedModule] got \"" + named.path));
}
