// Buffers of layers, above all BatchNorm's statistics, if ranks have different rows or there is a running mean.
#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp_nn/training/trainer.hpp>

#include <limits>

using namespace heatpp::nn;

namespace {

constexpr std::int64_t features = 3;

/// A norm with two names, and a mask with infinite elements.
struct Masked : torch::nn::Module {
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(features)),
                         same = register_module("same", norm);
  at::Tensor scale = register_parameter("scale", torch::ones({features})),
             mask = register_buffer("mask", torch::full({features}, -std::numeric_limits<float>::infinity()));
  at::Tensor forward(const at::Tensor& x) { return norm(x) * scale + mask.exp(); }
};

at::Tensor rows_of(std::int64_t first, std::int64_t end) {
  return torch::arange(static_cast<double>(first), static_cast<double>(end))
      .to(torch::kFloat)
      .unsqueeze(1)
      .repeat({1, features});
}

/// Returns a dataset whose rows are all on the last rank.
Dataset on_last_rank(std::int64_t rows) {
  const bool mine = ht::world().rank() == ht::world().size() - 1;
  const auto x = rows_of(0, mine ? rows : 0);
  return {ht::from_local(x, {.split = 0}), ht::from_local(x.clone(), {.split = 0})};
}

at::Tensor loss_of(const at::Tensor& outputs, const at::Tensor& targets) { return torch::mse_loss(outputs, targets); }

}  // namespace

TEST_CASE("Ranks without rows have no part in the statistics of BatchNorm", "[nn][statistics]") {
  for (const bool weighed : {false, true})
    for (const auto& topology : topologies()) {
      auto net = std::make_shared<torch::nn::BatchNorm1dImpl>(features);
      DataParallel model(net, topology);
      const bool mine = topology.comm().rank() == topology.comm().size() - 1;
      if (weighed) model.weigh_buffers(mine ? 8 : 0);
      const auto x = rows_of(0, 8);
      if (mine) model.backward(model(x).square().mean(), 8);
      else model.backward({}, 0);
      model.average_gradients();
      model.average_buffers();
      CHECK(near_to(net->running_mean, 0.1 * x.mean(0)));
      CHECK(near_to(net->running_var, 0.9 + 0.1 * x.var(0)));
      CHECK(model.equal_on_all_ranks());
    }
}

TEST_CASE("Statistics of BatchNorm count by rows", "[nn][statistics]") {
  const ht::Topology topology(ht::world());
  const auto ranks = ht::world().size(), rank = ht::world().rank();
  auto net = std::make_shared<torch::nn::BatchNorm1dImpl>(features);
  DataParallel model(net, topology);
  model.backward(model(torch::full({4, features}, 10.0 * rank)).square().mean(), rank + 1);
  model.average_gradients();
  model.average_buffers();
  double sum = 0;
  for (int r = 0; r < ranks; ++r) sum += 0.1 * 10 * r * (r + 1);
  CHECK(near_to(net->running_mean, torch::full({features}, sum / (ranks * (ranks + 1) / 2.0))));
}

TEST_CASE("a running mean keeps infinite elements, and counts shared layers once", "[nn][statistics]") {
  const auto data = on_last_rank(32);
  std::vector<at::Tensor> ends;
  for (const bool validated : {false, true}) {
    auto net = std::make_shared<Masked>();
    DataParallel model(net, ht::Topology(ht::world()));
    torch::optim::SGD sgd(model.parameters(), 0.01);
    Trainer trainer(model, sgd, loss_of, {.epochs = 3, .batch_size = 8, .ema = 0.9, .progress = false});
    const auto result = trainer.fit(data, validated ? std::optional(data) : std::nullopt);
    if (validated) CHECK(std::isfinite(result.epochs.back().validation->loss));
    const auto once = trainer.evaluate(data).loss;
    CHECK(std::isfinite(once));
    CHECK(trainer.evaluate(data).loss == once);
    CHECK(for_all(net->mask, net->mask.isinf()));
    ends.push_back(net->norm->running_mean.clone());
  }
  CHECK(equals(ends[0], ends[1]));
}

TEST_CASE("The statistics of a training do not depend on the ranks that have rows", "[nn][statistics]") {
  const auto data = on_last_rank(32);
  for (const bool daso : {false, true}) {
    auto net = std::make_shared<torch::nn::BatchNorm1dImpl>(features);
    DataParallelMultiGPU model(net, ht::Topology(ht::world(), {.node_of = [](int) { return 0; }}));
    torch::optim::SGD sgd(model.parameters(), 0.0);
    TrainerOptions options{.epochs = 40, .batch_size = 32 * ht::world().size(), .progress = false};
    if (daso) options.daso = DasoOptions{};
    (void)Trainer(model, sgd, loss_of, options).fit(data);
    const auto expected = rows_of(0, 32).mean(0) * (1 - std::pow(0.9, 40));
    CHECK(near_to(net->running_mean, expected, 1e-4));
  }
}

TEST_CASE("Buffers that cannot be written, and options that differ, are errors on all ranks", "[nn][statistics]") {
  const ht::Topology topology(ht::world());
  auto net = std::make_shared<torch::nn::BatchNorm1dImpl>(features);
  net->register_buffer("repeated", torch::ones({1}).expand({4}));
  CHECK(message_of<ht::ValueError>([&] { DataParallel(net, topology); }).find("repeated") != std::string::npos);
  if (ht::world().size() == 1) return;
  const ReplicaOptions other{.gradients = {.wire = ht::world().rank() == 1 ? ht::Wire::int8 : ht::Wire::float32}};
  CHECK_THROWS_AS(DataParallel(std::make_shared<SmallNet>(torch::kFloat), topology, other), ht::ValueError);
}
