#include "../memory.hpp"
#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp_nn/models/resnet.hpp>
#include <heatpp_nn/models/unet.hpp>
#include <heatpp_nn/parallel/mixed_precision.hpp>
#include <heatpp_nn/parallel/recompute.hpp>

using namespace heatpp::nn;

namespace {

constexpr std::int64_t width = 32;

/// Stores much for backward, and draws random numbers.
struct Block : torch::nn::Module {
  torch::nn::Linear first = register_module("first", torch::nn::Linear(width, 4 * width)),
                    second = register_module("second", torch::nn::Linear(4 * width, width));
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(4 * width));
  int calls = 0;
  at::Tensor forward(const at::Tensor& x) {
    ++calls;
    return x + second(torch::dropout(torch::tanh(norm(first(x))), 0.3, is_training()));
  }
};

struct Deep : torch::nn::Module {
  std::vector<std::shared_ptr<Block>> blocks;
  bool checkpointed;

  explicit Deep(bool checkpointed_) : checkpointed(checkpointed_) {
    torch::manual_seed(11);
    for (int i = 0; i < 8; ++i)
      blocks.push_back(register_module("block" + std::to_string(i), std::make_shared<Block>()));
  }
  at::Tensor forward(at::Tensor x) {
    for (auto& block : blocks) x = checkpointed ? nn_checkpointed(*block, x) : block->forward(x);
    return x;
  }
  static at::Tensor nn_checkpointed(Block& block, const at::Tensor& x) { return ht::nn::checkpointed(block, x); }
};

at::Tensor my_rows(std::int64_t rows) {
  auto generator = at::detail::createCPUGenerator(40 + static_cast<std::uint64_t>(ht::world().rank()));
  return torch::randn({rows, width}, generator);
}

std::vector<at::Tensor> tensors_of(const torch::nn::Module& module, bool gradients) {
  std::vector<at::Tensor> found;
  for (const auto& parameter : module.parameters())
    found.push_back((gradients ? parameter.grad() : parameter.detach()).clone());
  for (const auto& buffer : module.buffers()) found.push_back(buffer.clone());
  return found;
}

/// Returns weights and buffers after some batches, and the largest memory that a batch needed.
std::pair<std::vector<at::Tensor>, std::int64_t> trained(bool checkpointed, const ht::Topology& topology,
                                                         std::optional<ht::Dtype> autocast = std::nullopt) {
  DataParallel model(std::make_shared<Deep>(checkpointed), topology, {.gradients = {.bucket_bytes = 20000}});
  torch::optim::SGD sgd(model.parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  const auto x = my_rows(256);
  torch::manual_seed(100 + static_cast<std::uint64_t>(ht::world().rank()));
  std::int64_t most = 0;
  for (int batch = 0; batch < 4; ++batch) {
    sgd.zero_grad();
    const auto before = Memory::now;
    Memory::most = before;
    at::Tensor loss;
    {
      std::optional<Autocast> products;
      if (autocast) products.emplace(*autocast, at::kCPU);
      loss = torch::mse_loss(model(x), torch::sin(x));
    }
    loss.backward();
    most = std::max(most, Memory::most - before);
    model.step(sgd);
  }
  for (const auto& block : model->blocks) CHECK(block->calls == (checkpointed ? 8 : 4));
  return {tensors_of(model.module(), false), most};
}

}  // namespace

TEST_CASE("recomputed blocks give the same bits in less memory", "[nn][recompute]") {
  const Memory counted;
  for (const auto& topology : topologies()) {
    const auto [plain, much] = trained(false, topology);
    const auto [again, little] = trained(true, topology);
    INFO("most memory of a batch: " << much << " bytes, computed again " << little);
    CHECK(equal(plain, again));
    CHECK(2 * little < much);
  }
}

TEST_CASE("blocks recomputed in 16 bits give the same bits", "[nn][recompute]") {
  const ht::Topology topology(ht::world());
  CHECK(equal(trained(false, topology, ht::bfloat16).first, trained(true, topology, ht::bfloat16).first));
}

TEST_CASE("random numbers after a recomputed block do not change", "[nn][recompute]") {
  std::vector<at::Tensor> drawn;
  for (const bool checkpointed : {false, true}) {
    Deep net(checkpointed);
    torch::manual_seed(5);
    net.forward(my_rows(8)).sum().backward();
    drawn.push_back(torch::rand({3}));
  }
  CHECK(equals(drawn[0], drawn[1]));
}

TEST_CASE("The library's networks are computed again in blocks", "[nn][recompute]") {
  const auto gradients = [](auto net, const at::Tensor& x) {
    ht::nn::synchronise_norms(*net, ht::Topology(ht::world()));
    net->forward(x).square().mean().backward();
    return tensors_of(*net, true);
  };
  auto generator = at::detail::createCPUGenerator(6 + static_cast<std::uint64_t>(ht::world().rank()));
  const auto picture = torch::randn({2, 1, 32, 32}, generator);
  std::vector<std::vector<at::Tensor>> resnet, unet;
  for (const bool checkpointed : {false, true}) {
    torch::manual_seed(1);
    resnet.push_back(gradients(
        std::make_shared<ResNet>(ResNetOptions{
            .blocks = {1, 1, 1, 1}, .bottleneck = true, .channels = 1, .classes = 3, .checkpointed = checkpointed}),
        picture));
    unet.push_back(
        gradients(std::make_shared<UNet>(UNetOptions{.width = 4, .depth = 2, .checkpointed = checkpointed}), picture));
  }
  CHECK(equal(resnet[0], resnet[1]));
  CHECK(equal(unet[0], unet[1]));
}

TEST_CASE("A function of several tensors is computed again", "[nn][recompute]") {
  const auto w = torch::randn({3}).requires_grad_(), x = torch::randn({3}).requires_grad_(), mask = torch::ones({3});
  const auto function = [&](const Tensors& in) { return Tensors{in[0] * w * in[1], in[0].exp(), in[1] + 1}; };
  const auto gradients_of = [&](const Tensors& out) {
    return torch::autograd::grad({(out[0].square() + out[2]).sum()}, {x, w});
  };
  std::vector<at::Tensor> plain, again;
  (gradients_of(function({x, mask}))).swap(plain);
  const auto outputs = checkpointed({function}, {x, mask});
  (outputs[0].square() + outputs[2]).sum().backward();
  CHECK(equals(x.grad(), plain[0]));
  CHECK(equals(w.grad(), plain[1]));
  const at::NoGradGuard no_grad;
  CHECK_FALSE(checkpointed({function}, {x, mask})[0].requires_grad());
}

TEST_CASE("A parameter that is used within and outside is an error", "[nn][recompute]") {
  if (ht::world().size() == 1) return;  // nothing is sent
  DataParallel model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  const auto [x, y] = my_batch(0, 4);
  const auto twice = model(x) + checkpointed(model.module(), x);
  CHECK_THROWS_AS(torch::mse_loss(twice, y).backward(), ht::ValueError);
}
