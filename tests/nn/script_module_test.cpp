#include "scratch_file.hpp"
#include "training.hpp"
#include "../support.hpp"

#include <heatpp_nn/models/script_module.hpp>
#include <heatpp_nn/training/checkpoint.hpp>
#include <heatpp_nn/training/inference.hpp>

#include <torch/script.h>

#include <filesystem>
#include <fstream>

using namespace heatpp::nn;

namespace {

torch::jit::Module linear(const torch::nn::Linear& layer) {
  torch::jit::Module part("Linear");
  part.register_parameter("weight", layer->weight.detach().clone().requires_grad_(), false);
  part.register_parameter("bias", layer->bias.detach().clone().requires_grad_(), false);
  part.define("def forward(self, x):\n  return torch.linear(x, self.weight, self.bias)\n");
  return part;
}

/// Writes SmallNet as Python would script it, with a buffer in which forward counts.
void write_small_net(const std::string& path) {
  ht::world().barrier();
  if (ht::world().rank() == 0) {
    const SmallNet net;
    torch::jit::Module script("Net");
    script.register_module("first", linear(net.first));
    script.register_module("second", linear(net.second));
    script.register_buffer("calls", torch::zeros({}, torch::kLong));
    script.register_attribute("training", c10::BoolType::get(), true);
    script.define(
        "def forward(self, x):\n"
        "  self.calls.add_(1)\n"
        "  if not self.training:\n"
        "    return self.second.forward(torch.tanh(self.first.forward(x))) * 2\n"
        "  return self.second.forward(torch.tanh(self.first.forward(x)))\n");
    script.save(path);
  }
  ht::world().barrier();
}

template <class Net>
std::vector<at::Tensor> trained(const ht::Topology& topology, std::shared_ptr<Net> net, const std::string& checkpoint) {
  DataParallelMultiGPU model(net, topology);
  torch::optim::Adam adam(model.parameters(), torch::optim::AdamOptions(0.01));
  DASO daso(model, adam, {.phases = {.warmup = 2, .cooldown = 2, .total = 9}, .interval = {.first = {2, 1}}});
  for (std::int64_t b = 0; b < 9; ++b) {
    if (b == 5 && !checkpoint.empty()) {
      save_checkpoint(checkpoint, daso);
      (void)load_checkpoint(checkpoint, daso);
    }
    daso.zero_grad();
    backward(model, b);
    daso.step(1.0);
  }
  daso.drain();
  CHECK(model.equal_on_all_ranks());
  return weights(*net);
}

}  // namespace

TEST_CASE("A scripted network trains as the same one in C++ does", "[nn][script]") {
  const ScratchFile file{scratch_path("nn_script_test")};
  const ScratchFile checkpoint{file.path + ".checkpoint"};
  write_small_net(file.path);
  for (const auto& topology : topologies()) {
    const auto net = std::make_shared<ScriptModule>(file.path);
    CHECK(distance(trained(topology, net, ""), trained(topology, std::make_shared<SmallNet>(), "")) < 1e-13);
    const auto again = std::make_shared<ScriptModule>(file.path);
    CHECK(equal(trained(topology, again, checkpoint.path), weights(*net)));
  }
}

TEST_CASE("A scripted network has PyTorch's names, its modes, and is written back", "[nn][script]") {
  const ScratchFile file{scratch_path("nn_script_test")};
  write_small_net(file.path);
  ScriptModule net(file.path);
  CHECK(net.named_parameters().keys() ==
        std::vector<std::string>{"first.weight", "first.bias", "second.weight", "second.bias"});
  CHECK(net.named_buffers().keys() == std::vector<std::string>{"calls"});
  const auto [x, y] = samples(3);
  const auto outputs = net.forward(x);
  CHECK(near_to(outputs, SmallNet().forward(x)));
  net.eval();
  CHECK(equals(net.forward(x), outputs * 2));
  net.train();
  CHECK(net.named_buffers()["calls"].item<std::int64_t>() == 2);
  {
    const at::NoGradGuard no_grad;
    net.named_parameters()["second.bias"].fill_(5);
  }
  const auto changed = net.forward(x);
  CHECK_FALSE(changed.equal(outputs));
  ht::world().barrier();
  if (ht::world().rank() == 0) net.save_script(file.path);
  ht::world().barrier();
  CHECK(equals(ScriptModule(file.path).forward(x), changed));
  const auto message = message_of<ht::ValueError>([&] { net.forward(torch::ones({2, 4})); });
  CHECK_THAT(message, Catch::StartsWith("[ScriptModule] got inputs that the network refuses (mat1 and mat2"));
}

TEST_CASE("Parts of a scripted network keep the modes in which they were saved", "[nn][script]") {
  const ScratchFile file{scratch_path("nn_script_test")};
  ht::world().barrier();
  if (ht::world().rank() == 0) {
    torch::jit::Module part("Part"), script("Net");
    part.register_attribute("training", c10::BoolType::get(), false);
    part.define("def forward(self, x):\n  if self.training:\n    return x\n  return x * 2\n");
    script.register_attribute("training", c10::BoolType::get(), true);
    script.register_module("part", part);
    script.register_parameter("weight", torch::ones({3}, torch::kDouble).requires_grad_(), false);
    script.define("def forward(self, x):\n  return self.part.forward(x) * self.weight\n");
    script.save(file.path);
  }
  ht::world().barrier();
  const auto net = std::make_shared<ScriptModule>(file.path);
  DataParallel model(net, ht::Topology(ht::world()));
  const auto x = torch::ones({2, 3}, torch::kDouble);

  CHECK(net->is_training());
  CHECK(equals(net->forward(x), 2 * x));
  (void)predict(Network(model), ht::from_local(x, {.split = 0}));
  CHECK(net->is_training());
  CHECK(equals(net->forward(x), 2 * x));
  net->train();
  CHECK(equals(net->forward(x), x));
  (void)predict(Network(model), ht::from_local(x, {.split = 0}));
  CHECK(equals(net->forward(x), x));
}

TEST_CASE("an error of a scripted network shows its last line", "[nn][script]") {
  const ScratchFile file{scratch_path("nn_script_test")};
  ht::world().barrier();
  if (ht::world().rank() == 0) {
    torch::jit::Module script("Net");
    script.define("def forward(self, x):\n  assert x.dim() == 3, 'got no pictures'\n  return x\n");
    script.save(file.path);
  }
  ht::world().barrier();
  ScriptModule net(file.path);
  CHECK_THAT(message_of<ht::ValueError>([&] {
               net.forward(torch::ones({2, 4}));
             }),
             Catch::Contains("got no pictures") && !Catch::Contains("following operation"));
}

TEST_CASE("Files that are no networks are errors on all ranks", "[nn][script]") {
  const ScratchFile file{scratch_path("nn_script_test")};
  ht::world().barrier();
  if (ht::world().rank() == 0) std::ofstream(file.path) << "no network";
  ht::world().barrier();
  CHECK_THAT(message_of<ht::IoError>([&] { ScriptModule net(file.path); }), Catch::Contains(file.path));
  CHECK_THAT(message_of<ht::IoError>([&] { ScriptModule net("no/such/file.pt"); }), Catch::Contains("no/such/file.pt"));
}
