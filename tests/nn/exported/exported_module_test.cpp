#include "../../support.hpp"
#include "../scratch_file.hpp"
#include "../training.hpp"
#include "archives.hpp"

#include <heatpp_nn/models/exported_module.hpp>
#include <heatpp_nn/training/inference.hpp>

#include <random>

using namespace heatpp::nn;
using nlohmann::json;

namespace {

const std::string file_name = "nn_exported_test";

std::shared_ptr<ExportedModule> loaded(const std::string& path, const ExportedFiles& files = {}) {
  write_for_all(path, files.bytes());
  return std::make_shared<ExportedModule>(path);
}

/// Returns the constructor's error for damaged files.
std::string refusal(const std::string& path, const ExportedFiles& files) {
  write_for_all(path, files.bytes());
  return message_of<ht::IoError>([&] { ExportedModule net(path); });
}

at::Tensor tensor_of(ExportedModule& net, const std::string& name) {
  for (const auto& item : net.named_parameters())
    if (item.key() == name) return item.value();
  return net.named_buffers()[name];
}

/// Computes the network of ExportedFiles with LibTorch's functions, without dropout.
at::Tensor expected(ExportedModule& net, const at::Tensor& x, bool training) {
  const auto mean = tensor_of(net, "layers.norm.running_mean").clone();
  const auto var = tensor_of(net, "layers.norm.running_var").clone();
  const auto linear = at::linear(x, tensor_of(net, "layers.linear.weight"), tensor_of(net, "layers.linear.bias"));
  return at::batch_norm(linear, {}, {}, mean, var, training, 0.5, 1e-5, false) * tensor_of(net, "scale");
}

}  // namespace

TEST_CASE("An exported network computes what its nodes say, in both modes", "[nn][exported]") {
  const ScratchFile file{scratch_path(file_name)};
  const auto net = loaded(file.path);
  const auto x = samples(6).first;

  CHECK(net->is_training());
  net->eval();
  CHECK(near_to(net->forward(x), expected(*net, x, false)));
  CHECK(tensor_of(*net, "layers.norm.num_batches_tracked").item<std::int64_t>() == 0);
  net->train();
  net->named_modules()["dropout"]->eval();  // only one part
  CHECK(near_to(net->forward(x), expected(*net, x, true)));
  CHECK(tensor_of(*net, "layers.norm.num_batches_tracked").item<std::int64_t>() == 1);
  net->train();
  const auto zeros = net->forward(x).eq(0).sum().item<std::int64_t>();
  CHECK((zeros > 0 && zeros < 18));
  CHECK(net->parameter_names() == std::vector<std::string>{"x"});
  CHECK(net->not_persistent() == std::vector<std::string>{"scale"});
}

TEST_CASE("A network that was exported for evaluation is trained, too", "[nn][exported]") {
  const ScratchFile file{scratch_path(file_name)};
  ExportedFiles files;
  files.node(2)["inputs"][5]["arg"] = files.node(3)["inputs"][2]["arg"] = {{"as_bool", false}};
  files.graph()["nodes"].erase(1);  // as torch.export, which then counts no batches
  const auto net = loaded(file.path, files);

  CHECK_FALSE(net->is_training());
  net->train();
  net->named_modules()["dropout"]->eval();
  const auto x = samples(6).first;
  CHECK(near_to(net->forward(x), expected(*net, x, true)));
  CHECK(tensor_of(*net, "layers.norm.num_batches_tracked").item<std::int64_t>() == 1);
}

TEST_CASE("Ranks train an exported network as one process does", "[nn][exported]") {
  const ScratchFile file{scratch_path(file_name)};
  ExportedFiles files;
  files.node(4)["inputs"][0]["arg"] = {{"as_tensor", {{"name", "linear"}}}};
  files.graph()["nodes"] = json::array({files.node(0), files.node(4)});  // no result depends on how rows are shared
  const auto [x, y] = samples(8);
  const auto trained = [&](const ht::Topology& topology, std::int64_t ranks, std::int64_t rank) {
    const auto net = loaded(file.path, files);
    DataParallel model(net, topology);
    torch::optim::Adam adam(model.parameters(), torch::optim::AdamOptions(0.05));
    for (int step = 0; step < 5; ++step) {
      adam.zero_grad();
      const auto first = 8 * rank / ranks, last = 8 * (rank + 1) / ranks;
      const auto loss = torch::mse_loss(model(x.slice(0, first, last)), y.slice(0, first, last));
      model.backward(loss, static_cast<double>(last - first));
      model.step(adam);
    }
    return weights(*net);
  };
  const auto alone = trained(ht::Topology(ht::self()), 1, 0);
  for (const auto& topology : topologies())
    CHECK(distance(trained(topology, ht::world().size(), ht::world().rank()), alone) < 1e-12);
}

TEST_CASE("An exported network is written back with its weights", "[nn][exported]") {
  const ScratchFile file{scratch_path(file_name)}, again{scratch_path(file_name + "_again.pt2")};
  const auto net = loaded(file.path);
  {
    const at::NoGradGuard no_grad;
    for (auto& parameter : net->parameters()) parameter.fill_(3);
  }
  net->forward(samples(4).first);
  ht::world().barrier();
  if (ht::world().rank() == 0) net->save_network(again.path);
  ht::world().barrier();
  const auto read = load_module(again.path);
  CHECK(equal(weights(*read), weights(*net)));
  CHECK(equal(read->buffers(), net->buffers()));
}

TEST_CASE("Weights that are one tensor in Python are one here", "[nn][exported]") {
  const ScratchFile file{scratch_path(file_name)};
  ExportedFiles files;
  auto& config = files.weights["config"];
  config["layers.norm.running_mean"] = config["layers.norm.running_var"];
  const auto net = loaded(file.path, files);
  CHECK(tensor_of(*net, "layers.norm.running_mean").is_same(tensor_of(*net, "layers.norm.running_var")));
}

TEST_CASE("Inputs of other sizes are errors that name them", "[nn][exported]") {
  const ScratchFile file{scratch_path(file_name)};
  const auto net = loaded(file.path);
  const auto refused = [&](const at::Tensor& x) { return message_of<ht::ValueError>([&] { net->forward(x); }); };
  CHECK_THAT(
      refused(torch::ones({4, 6}, torch::kDouble)),
      Catch::StartsWith("[ExportedModule] got the input \"x\" of shape (4, 6), 6 along axis 1 in place of 5; expected "
                        "(s77, 5), s77 from 2 to 64"));
  CHECK_THAT(refused(torch::ones({65, 5}, torch::kDouble)),
             Catch::Contains("of shape (65, 5), 65 along axis 0 in place of s77;"));
  CHECK_THAT(refused(torch::ones({4, 5}, torch::kFloat)), Catch::Contains("in the node \"linear\""));
  CHECK_THAT(message_of<ht::ValueError>([&] { net->forward(std::vector<at::Tensor>{}); }),
             Catch::Contains("got 0 inputs; expected 1"));
  net->eval();
  CHECK(net->forward(torch::ones({1, 5}, torch::kDouble)).sizes() == at::IntArrayRef({1, 3}));
  CHECK(net->forward(torch::ones({0, 5}, torch::kDouble)).sizes() == at::IntArrayRef({0, 3}));
}

TEST_CASE("Graphs that cannot be computed are errors that name the node", "[nn][exported]") {
  const ScratchFile file{scratch_path(file_name)};
  const auto check = [&](const std::string& expected, const auto& damage) {
    ExportedFiles files;
    damage(files);
    CHECK_THAT(refusal(file.path, files),
               Catch::StartsWith("[ExportedModule] got \"" + file.path) && Catch::Contains(expected));
  };
  const auto argument = [](ExportedFiles& files, std::size_t node, std::size_t i) -> json& {
    return files.node(node)["inputs"][i]["arg"];
  };
  check("the node \"linear\" (torch.ops.mine.linear.default) of an operator that LibTorch has not",
        [](auto& files) { files.node(0)["target"] = "torch.ops.mine.linear.default"; });
  check("the node \"linear\" (torch.ops.aten.from_file.default) of an operator",
        [](auto& files) { files.node(0)["target"] = "torch.ops.aten.from_file.default"; });
  check("the node \"linear\" (_operator.power) of 3 numbers",
        [](auto& files) { files.node(0)["target"] = "_operator.power"; });
  check("\"input\" that takes \"mul\", which nothing before it gives", [&](auto& files) {
    argument(files, 0, 0) = {{"as_tensor", {{"name", "mul"}}}};
  });
  check("that gives \"linear\" once more",
        [](auto& files) { files.node(2)["outputs"][0]["as_tensor"]["name"] = "linear"; });
  check("the node \"dropout\" (torch.ops.aten.dropout.default), argument \"p\" of the type str, where float is taken",
        [&](auto& files) {
          argument(files, 3, 1) = {{"as_string", "half"}};
        });
  check("\"p\" that is a tensor, where float is taken", [&](auto& files) {
    argument(files, 3, 1) = {{"as_tensor", {{"name", "x"}}}};
  });
  check("without the argument \"p\"", [](auto& files) { files.node(3)["inputs"].erase(1); });
  check("with the argument \"q\"", [](auto& files) { files.node(3)["inputs"][1]["name"] = "q"; });
  check("version 9 of the schema", [](auto& files) { files.program["schema_version"]["major"] = 9; });
  check("that gives 2 values, where aten::mul gives 1", [](auto& files) {
    files.node(4)["outputs"].push_back({{"as_tensor", {{"name", "more"}}}});
  });
  check("a graph of 7 inputs, of which its signature has 6",
        [](auto& files) { files.program["graph_module"]["signature"]["input_specs"].erase(0); });
}

TEST_CASE("Weights that do not fit are errors that name them", "[nn][exported]") {
  const ScratchFile file{scratch_path(file_name)};
  const std::string name = "layers.linear.weight";
  const auto check = [&](const std::string& expected, const auto& damage) {
    ExportedFiles files;
    damage(files, files.weights["config"][name]);
    CHECK_THAT(refusal(file.path, files), Catch::Contains(expected));
  };
  check("the tensor \"" + name + "\" of the shape (3, 50)",
        [](auto&, auto& entry) { entry["tensor_meta"]["sizes"][1]["as_int"] = 50; });
  check("of shape (3, 4) and Double, where the graph has (3, 5) and Double",
        [](auto&, auto& entry) { entry["tensor_meta"]["sizes"][1]["as_int"] = 4; });
  check("of shape (3, 5) and Float, where the graph has (3, 5) and Double",
        [](auto&, auto& entry) { entry["tensor_meta"]["dtype"] = 7; });
  check("of the dtype 99", [](auto&, auto& entry) { entry["tensor_meta"]["dtype"] = 99; });
  check("with the sizes (-3, 5)", [](auto&, auto& entry) { entry["tensor_meta"]["sizes"][0]["as_int"] = -3; });
  check("that is pickled", [](auto&, auto& entry) { entry["use_pickle"] = true; });
  check("no file \"data/weights/elsewhere\"", [](auto&, auto& entry) { entry["path_name"] = "elsewhere"; });
  check("no weights of \"" + name + "\"", [&](auto& files, auto&) { files.weights["config"].erase(name); });
  check("of the shape (3, 5)",
        [](auto&, auto& entry) { entry["tensor_meta"]["strides"][0]["as_int"] = std::int64_t{1} << 62; });
}

TEST_CASE("Archives that are no networks are errors on all ranks", "[nn][exported]") {
  const ScratchFile file{scratch_path(file_name)};
  const auto check = [&](const std::string& expected, const auto& damage) {
    ExportedFiles files;
    damage(files.more);
    CHECK_THAT(refusal(file.path, files), Catch::Contains(expected));
  };
  check("the format \"zip\"", [](auto& more) { more["archive_format"] = "zip"; });
  check("version \"1\"", [](auto& more) { more["archive_version"] = "1"; });
  check("the byte order \"big\"", [](auto& more) { more["byteorder"] = "big"; });
  check("the networks \"model\" and \"models/other.json\"", [](auto& more) { more["models/other.json"] = "{}"; });
  write_for_all(file.path, "no network");
  CHECK_THAT(message_of<ht::IoError>([&] { ExportedModule net(file.path); }), Catch::Contains(file.path));
  CHECK_THAT(message_of<ht::IoError>([&] { ExportedModule net("no/such/file.pt2"); }),
             Catch::Contains("no/such/file.pt2"));
}

TEST_CASE("Damaged archives throw or compute", "[nn][exported]") {
  const ScratchFile file{scratch_path(file_name)};
  const auto whole = ExportedFiles().bytes();
  std::mt19937_64 random(17);
  std::int64_t refused = 0;
  for (int round = 0; round < 300; ++round) {
    auto bytes = whole;
    if (round % 3 == 0) bytes.resize(random() % bytes.size());
    else
      for (auto i = 1 + random() % 4; i > 0; --i) bytes[random() % bytes.size()] = static_cast<char>(random());
    write_for_all(file.path, bytes);
    try {
      ExportedModule net(file.path);
    } catch (const ht::Error&) {
      ++refused;
    }
  }
  CHECK(refused > 200);
}

TEST_CASE("Graphs with changed values throw or compute", "[nn][exported]") {
  const ScratchFile file{scratch_path(file_name)};
  std::mt19937_64 random(19);
  const auto change = [&](json& value, const auto& self) -> void {
    if (value.is_structured() && !value.empty() && random() % 12 != 0) {
      auto part = value.begin();
      std::advance(part, static_cast<std::ptrdiff_t>(random() % value.size()));
      return self(*part, self);
    }
    const std::vector<json> others{nullptr, true, -1, 3, 1e300, "x", json::array(), json::object(), {{"as_int", 2}}};
    value = others[random() % others.size()];
  };
  for (int round = 0; round < 400; ++round) {
    ExportedFiles files;
    change(random() % 3 == 0 ? files.weights : files.program, change);
    write_for_all(file.path, files.bytes());
    try {
      ExportedModule net(file.path);
      static_cast<void>(net.forward(std::vector<at::Tensor>{torch::ones({4, 5}, torch::kDouble)}));
    } catch (const ht::Error&) {
      continue;
    }
  }
  SUCCEED();
}
