#include "memory.hpp"
#include "scratch_file.hpp"
#include "training.hpp"
#include "../support.hpp"

#include <heatpp_nn/training/checkpoint.hpp>

#include <filesystem>

using namespace heatpp::nn;

namespace {

struct Wide : torch::nn::Module {
  torch::nn::Linear first = register_module("first", torch::nn::Linear(200, 300)),
                    second = register_module("second", torch::nn::Linear(300, 200));
  at::Tensor forward(const at::Tensor& x) { return second(torch::tanh(first(x))); }
};
constexpr double N = 4 * (2 * 200 * 300 + 300 + 200);
/// Allowance for small tensors: inputs, outputs, buffers of messages.
constexpr double little = 0.06 * N;

int smallest_node(const ht::Topology& topology) {
  std::array<std::int64_t, 1> ranks{topology.node().size()};
  topology.comm().allreduce(ranks, ht::ReduceOp::min);
  return static_cast<int>(ranks[0]);
}

}  // namespace

TEST_CASE("A training holds the memory that its formula says, and needs no more to drain or to be saved",
          "[nn][memory]") {
  const auto path = scratch_path("nn_memory_test");
  Memory memory;
  struct Way {
    DasoOptions options;
    double shares, wholes;  // memory of DASO, in units of N
    bool shared = false;    // whether ranks share the optimizer's work
  };
  const std::vector<Way> ways{
      {{.interval = {.first = {2, 1}}}, 2, 0},
      {{.interval = {.first = {2, 1}}}, 2, 0, true},
      {{.interval = {.first = {2, 1}}, .merge = {.policy = MergePolicy::outer}, .wire = ht::Wire::int8}, 5, 0},
      {DasoOptions::automatic(), 5, 0},
      {{.interval = {.first = {2, 1}}, .patience = 0.01}, 4, 0},
      {{.interval = {.first = {2, 1, 2}, .local_skips = true}}, 2, 2}};
  for (const auto& topology : topologies())
    for (const auto& way : ways) {
      const int g = smallest_node(topology);
      const auto before = memory.now;
      const auto held = [&] { return static_cast<double>(memory.now - before); };
      DataParallelMultiGPU model(std::make_shared<Wide>(), topology,
                                 {.shard = way.shared ? std::optional(Scope::node) : std::nullopt});
      CHECK(std::abs(held() - 2 * N) < little);
      torch::optim::Adam adam(model.parameters());
      DASO daso(model, adam, way.options);
      const auto batch = [&] {
        daso.zero_grad();
        const auto x = torch::ones({2, 200}) * (1 + ht::world().rank());
        torch::mse_loss(model(x), x).backward();
        daso.step(1.0);
      };
      for (int b = 0; b < 5; ++b) batch();
      const bool owns = topology.node().rank() < g;
      const auto optimizer = way.shared ? 2 * N * owns / g : 2 * N;
      const auto expected = 2 * N + optimizer + way.shares * N * owns / g + way.wholes * N;
      INFO("g " << g << ", shares " << way.shares << ", wholes " << way.wholes << ", held " << held() / N << " N");
      CHECK(std::abs(held() - expected) < little);

      memory.most = memory.now;
      daso.drain();
      CHECK(static_cast<double>(memory.most - memory.now) < little);
      memory.most = memory.now;
      save_checkpoint(path, daso);
      CHECK(static_cast<double>(memory.most - memory.now) < little);
    }
  ht::world().barrier();
  if (ht::world().rank() == 0) std::filesystem::remove(path);
}
