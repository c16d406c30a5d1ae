#include "network.hpp"

#include <fmt/format.h>
#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_nn/models/detail/exported/archive.hpp>
#include <heatpp_nn/models/exported_info.hpp>

#include <array>
#include <filesystem>

namespace tools {

namespace nn = heatpp::nn;

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::vector<nn::ExportedTensor>& tensors) {
  auto all = Json::array();
  for (const auto& tensor : tensors)
    all.push_back({{"name", tensor.name}, {"dtype", tensor.dtype}, {"shape", tensor.shape}});
  return all;
}

Json json_of(const std::string& path, const nn::ExportedInfo& info) {
  Json all{{"file", path},
           {"torch", info.torch_version},
           {"schema", info.schema},
           {"sizes", info.ranges},
           {"inputs", json_of(info.inputs)},
           {"outputs", json_of(info.outputs)},
           {"parameters", json_of(info.parameters)},
           {"numbers", info.parameter_count},
           {"buffers", json_of(info.buffers)},
           {"operators", Json::array()}};
  for (const auto& called : info.operators)
    all["operators"].push_back({{"name", called.name}, {"calls", called.calls}, {"known", called.is_known}});
  return all;
}

std::string text_of(const std::string& title, const std::vector<nn::ExportedTensor>& tensors) {
  if (tensors.empty()) return "";
  auto text = "  " + title + "\n";
  for (const auto& tensor : tensors)
    text += fmt::format("    {:<40} {:<10} {}\n", tensor.name.empty() ? "-" : tensor.name, tensor.dtype, tensor.shape);
  return text;
}

std::string text_of(const nn::ExportedInfo& info) {
  auto text = fmt::format("  a network of torch.export {}, schema {}\n", info.torch_version, info.schema);
  for (const auto& range : info.ranges) text += "  " + range + "\n";
  text += text_of("inputs", info.inputs) + text_of("outputs", info.outputs);
  text += text_of(fmt::format("parameters, {} numbers", info.parameter_count), info.parameters);
  text += text_of("buffers", info.buffers) + "  operators\n";
  for (const auto& called : info.operators)
    text += fmt::format("    {:<52} {}{}\n", called.name, called.calls, called.is_known ? "" : ", which is not known");
  return text;
}

}  // namespace

bool holds_network(const std::string& path) {
  std::array<std::int64_t, 1> found{};
  const auto& ranks = heatpp::world();
  heatpp::all_or_none(ranks, [&] {
    std::error_code ignored;
    if (ranks.rank() != 0) return;
    if (!std::filesystem::is_regular_file(path, ignored)) {
      found[0] = path.ends_with(".pt2");  // reading it says what it is
      return;
    }
    heatpp::io::detail::FileReader file(path, "describe");
    found[0] = nn::detail::is_exported(file, path);
  });
  ranks.broadcast(found, 0);
  return found[0] != 0;
}

Description description_of_network(const std::string& path) {
  const auto info = nn::exported_info(path);
  return {json_of(path, info), path + "\n" + text_of(info)};
}

}  // namespace tools
