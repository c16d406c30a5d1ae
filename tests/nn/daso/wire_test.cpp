#include "../training.hpp"
#include "../../support.hpp"

using namespace heatpp::nn;

namespace {

/// A network whose shares are many blocks of a wire.
struct WideNet : torch::nn::Module {
  torch::nn::Linear first{nullptr}, second{nullptr};
  WideNet() {
    torch::manual_seed(7);
    first = register_module("first", torch::nn::Linear(5, 256));
    second = register_module("second", torch::nn::Linear(256, 3));
  }
  at::Tensor forward(const at::Tensor& x) { return second(torch::tanh(first(x))); }
};

/// Returns the mean loss of all ranks over the last batches.
double trained(const ht::Topology& topology, const DasoOptions& options, std::optional<Scope> shard = std::nullopt) {
  DataParallelMultiGPU model(std::make_shared<WideNet>(), topology, {.shard = shard});
  torch::optim::SGD sgd(model.parameters(), 0.05);
  DASO daso(model, sgd, options);
  double loss = 0;
  for (std::int64_t b = 0; b < 100; ++b) {
    const auto [x, y] = my_batch(b, 8);
    daso.zero_grad();
    const auto error = torch::mse_loss(model(x.to(torch::kFloat)), y.to(torch::kFloat));
    error.backward();
    daso.step(error);
    if (b >= 80) loss += error.item<double>() / 20;
  }
  daso.drain();
  CHECK(model.equal_on_all_ranks());
  std::array<double, 1> mean{loss};
  ht::world().allreduce(mean);
  return mean[0] / ht::world().size();
}

}  // namespace

TEST_CASE("Four bits train as float32 does, also in fragments and with a shared optimizer", "[nn][daso][wire]") {
  for (const auto& topology : topologies())
    for (const auto policy : {MergePolicy::delta, MergePolicy::outer})
      for (const std::int64_t fragments : {1, 2}) {
        DasoOptions options{
            .interval = {.first = {4, 1}}, .merge = {.policy = policy, .outer_momentum = 0.5}, .fragments = fragments};
        const auto exact = trained(topology, options);
        for (const auto wire : {ht::Wire::int4, ht::Wire::float4}) {
          options.wire = wire;
          CHECK(trained(topology, options) < 1.1 * exact);
        }
        CHECK(trained(topology, options, Scope::node) < 1.1 * exact);
      }
}

TEST_CASE("DASO counts the bytes of four bits with their scales", "[nn][daso][wire]") {
  const ht::Topology topology(ht::world(), {.node_of = [](int rank) { return rank; }});
  if (ht::world().size() == 1) return;
  const auto sent = [&](ht::Wire wire) {
    DataParallelMultiGPU model(std::make_shared<WideNet>(), topology);
    torch::optim::SGD sgd(model.parameters(), 0.1);
    DASO daso(model, sgd, {.interval = {.first = {1, 0}}, .wire = wire});
    const auto [x, y] = my_batch(0, 4);
    torch::mse_loss(model(x.to(torch::kFloat)), y.to(torch::kFloat)).backward();
    daso.step(1.0);
    return static_cast<double>(daso.counters().global_bytes);
  };
  const auto whole = sent(ht::Wire::float32);
  CHECK(whole == 4 * (5 * 256 + 256 + 256 * 3 + 3));
  CHECK(sent(ht::Wire::int8) < 0.26 * whole);
  for (const auto wire : {ht::Wire::int4, ht::Wire::float4}) CHECK(sent(wire) <= 0.14 * whole);
}
