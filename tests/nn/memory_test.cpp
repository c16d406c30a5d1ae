#include "memory.hpp"
#include "scratch_file.hpp"
#include "training.hpp"
#include "../support.hpp"

#include <heatpp_nn/training/checkpoint.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>

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

/// Many layers, so that buckets are small.
struct Deep : torch::nn::Module {
  static constexpr std::int64_t width = 120;
  static constexpr int layers = 16;
  static constexpr double N = 4.0 * layers * width * (width + 1);
  torch::nn::Sequential net = register_module("net", torch::nn::Sequential());
  Deep() {
    for (int i = 0; i < layers; ++i) net->push_back(torch::nn::Linear(width, width));
  }
  at::Tensor forward(const at::Tensor& x) { return net->forward(x); }
};

/// Returns this rank's part of the memory of weights that a node has in common: the pages of the mapping that holds
/// them, each divided by the number of processes that have it.
double in_common(const Replica& model) {
  if (!model.shards_weights() || model.topology().node().size() == 1) return 0;
  const auto at = reinterpret_cast<std::uintptr_t>(model.flat().parameters()[0].const_data_ptr());
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) inside = begin <= at && at < end;
    std::int64_t kilobytes = 0;
    if (inside && std::sscanf(line.c_str(), "Pss: %ld", &kilobytes) == 1)
      return 1024.0 * static_cast<double>(kilobytes);
  }
  return std::nan("");
}

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
    bool weights = false;   // ... and weights and gradients
  };
  const std::vector<Way> ways{
      {{.interval = {.first = {2, 1}}}, 2, 0},
      {{.interval = {.first = {2, 1}}}, 2, 0, true},
      {{.interval = {.first = {2, 1}}}, 2, 0, true, true},
      {{.interval = {.first = {2, 1}}, .merge = {.policy = MergePolicy::outer}, .wire = ht::Wire::int8}, 5, 0},
      {DasoOptions::automatic(), 5, 0},
      {{.interval = {.first = {2, 1}}, .patience = 0.01}, 4, 0},
      {{.interval = {.first = {2, 1, 2}, .local_skips = true}}, 2, 2}};
  for (const auto& topology : topologies())
    for (const auto& way : ways) {
      const int g = smallest_node(topology);
      const auto before = memory.now;
      const bool owns = topology.node().rank() < g;
      DataParallelMultiGPU model(std::make_shared<Wide>(), topology,
                                 {.gradients = {.bucket_bytes = 1 << 10},
                                  .shard = way.shared ? std::optional(Scope::node) : std::nullopt,
                                  .shard_weights = way.weights});
      // LibTorch does not allocate what a node has in common.
      const auto held = [&] { return static_cast<double>(memory.now - before) + in_common(model); };
      const auto weights_and_gradients = way.weights ? N / topology.node().size() + N * owns / g : 2 * N;
      CHECK(std::abs(held() - weights_and_gradients) < little);
      torch::optim::Adam adam(model.parameters());
      DASO daso(model, adam, way.options);
      const auto batch = [&] {
        daso.zero_grad();
        const auto x = torch::ones({2, 200}) * (1 + ht::world().rank());
        torch::mse_loss(model(x), x).backward();
        daso.step(1.0);
      };
      for (int b = 0; b < 5; ++b) batch();
      const auto optimizer = way.shared ? 2 * N * owns / g : 2 * N;
      const auto expected = weights_and_gradients + optimizer + way.shares * N * owns / g + way.wholes * N;
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

TEST_CASE("shared weights need at most 0.6 of the memory of whole copies, also while they are trained",
          "[nn][memory][shard_weights]") {
  if (ht::world().size() == 1) return;
  const ht::Topology topology(ht::world(), {.node_of = [](int) { return 0; }});
  Memory memory;
  struct Needs {
    double held, most;
  };
  const auto needs = [&](bool shared) {
    const auto before = memory.now;
    DataParallel model(std::make_shared<Deep>(), topology,
                       {.gradients = {.bucket_bytes = 1 << 10},
                        .shard = shared ? std::optional(Scope::node) : std::nullopt,
                        .shard_weights = shared});
    torch::optim::Adam adam(model.parameters());
    for (int b = 0; b < 3; ++b) {
      if (b == 2) memory.most = memory.now;
      adam.zero_grad();
      const auto x = torch::ones({2, Deep::width});
      torch::mse_loss(model(x), x).backward();
      model.step(adam);
    }
    const auto weights = in_common(model) - static_cast<double>(before);
    ht::world().barrier();  // the others still have it
    return Needs{weights + static_cast<double>(memory.now), weights + static_cast<double>(memory.most)};
  };
  const auto whole = needs(false), shared = needs(true);
  INFO("shared " << shared.held / Deep::N << " N, at most " << shared.most / Deep::N << " N; whole "
                 << whole.held / Deep::N << " N, at most " << whole.most / Deep::N << " N");
  CHECK(std::abs(whole.held - 4 * Deep::N) < 0.06 * Deep::N);
  CHECK(std::abs(shared.held - 4 * Deep::N / ht::world().size()) < 0.06 * Deep::N);
  CHECK(shared.held < 0.6 * whole.held);
  CHECK(shared.most < 0.6 * whole.most);
}
