#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp_nn/parallel/mixed_precision.hpp>

using heatpp::nn::Scope;

namespace {

/// Trains by DataParallel; ranks may share the optimizer's work.
template <class Optimizer, class Options>
std::vector<at::Tensor> train(const ht::Topology& topology, const Options& options,
                              const ht::nn::ReplicaOptions& replica, std::optional<double> max_norm = std::nullopt) {
  ht::nn::DataParallel model(std::make_shared<SmallNet>(), topology, replica);
  Optimizer optimizer(model.parameters(), options);
  for (std::int64_t b = 0; b < 6; ++b) {
    optimizer.zero_grad();
    backward(model, b);
    model.average_gradients();
    if (max_norm) CHECK(model.clip_gradients(*max_norm) > 0);
    model.update(optimizer);
  }
  CHECK(model.equal_on_all_ranks());
  return weights(model.module());
}

/// Returns the number of elements of Adam's first moments on this rank.
std::int64_t moments(torch::optim::Optimizer& optimizer) {
  std::int64_t count = 0;
  for (const auto& [key, state] : optimizer.state())
    count += dynamic_cast<const torch::optim::AdamParamState&>(*state).exp_avg().numel();
  return count;
}

constexpr std::int64_t weights_of_small_net = 5 * 8 + 8 + 8 * 3 + 3;

}  // namespace

TEST_CASE("an optimizer whose work ranks share trains as an unshared one", "[nn][shard]") {
  for (const auto& topology : topologies())
    for (const auto shard : {Scope::all, Scope::node})
      for (const std::int64_t bytes : {1, 200, 1 << 20}) {
        const ht::nn::ReplicaOptions shared{.gradients = {.bucket_bytes = bytes}, .shard = shard};
        const auto sgd = torch::optim::SGDOptions(0.05).momentum(0.9).weight_decay(0.01);
        CHECK(distance(train<torch::optim::SGD>(topology, sgd, shared), train<torch::optim::SGD>(topology, sgd, {})) <
              1e-13);
        const torch::optim::AdamWOptions adam(0.01);
        CHECK(distance(train<torch::optim::AdamW>(topology, adam, shared),
                       train<torch::optim::AdamW>(topology, adam, {})) < 1e-12);
        CHECK(distance(train<torch::optim::SGD>(topology, sgd, shared, 0.1),
                       train<torch::optim::SGD>(topology, sgd, {}, 0.1)) < 1e-13);
      }
}

TEST_CASE("DASO refuses an optimizer of other tensors than the ones that ranks share", "[nn][shard]") {
  const ht::Topology topology(ht::world(), {.node_of = [](int) { return 0; }});
  ht::nn::DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology, {.shard = Scope::node});
  torch::optim::SGD whole(model.module().parameters(), 0.1), pieces(model.parameters(), 0.1);
  CHECK_THROWS_AS(ht::nn::DASO(model, whole, {}), ht::ValueError);
  ht::nn::DASO daso(model, pieces, {});
  pieces.add_param_group(torch::optim::OptimizerParamGroup(model.module().second->parameters()));
  backward(model, 0);
  CHECK_THROWS_AS(daso.step(1.0), ht::ValueError);
}

TEST_CASE("Reproducible sums and narrow wires go with a shared optimizer", "[nn][shard]") {
  for (const auto& topology : topologies())
    for (const auto wire : {ht::Wire::float32, ht::Wire::int8}) {
      const auto weights_with = [&](std::optional<Scope> shard) {
        ht::nn::DataParallel model(
            std::make_shared<SmallNet>(torch::kFloat), topology,
            {.gradients = {.wire = wire, .reproducible = wire == ht::Wire::float32}, .shard = shard});
        torch::optim::SGD sgd(model.parameters(), 0.1);
        ht::nn::GradScaler scaler({.initial = 8});
        for (std::int64_t b = 0; b < 4; ++b) {
          sgd.zero_grad();
          const auto [x, y] = my_batch(b, 4);
          scaler.scale(torch::mse_loss(model(x.to(torch::kFloat)), y.to(torch::kFloat))).backward();
          if (scaler.finish(model)) model.update(sgd);
        }
        return weights(model.module());
      };
      CHECK(equal(weights_with(Scope::all), weights_with(std::nullopt)));
    }
}

TEST_CASE("Each rank keeps its share of the optimizer's state", "[nn][shard]") {
  for (const auto& topology : topologies())
    for (const auto shard : {Scope::all, Scope::node}) {
      ht::nn::DataParallel model(std::make_shared<SmallNet>(), topology, {.shard = shard});
      torch::optim::Adam adam(model.parameters());
      backward(model, 0);
      model.step(adam);
      std::array<std::int64_t, 1> all{moments(adam)};
      CHECK(all[0] <= weights_of_small_net / (shard == Scope::all ? ht::world().size() : 1) + 1);
      ht::world().allreduce(all);
      std::array<std::int64_t, 1> nodes{topology.node().rank() == 0 && shard == Scope::node};
      ht::world().allreduce(nodes);
      CHECK(all[0] == weights_of_small_net * std::max<std::int64_t>(1, nodes[0]));
    }
}

TEST_CASE("DASO steps and merges the shares that the ranks of a node own", "[nn][shard][daso]") {
  using namespace ht::nn;
  const auto trained = [](const ht::Topology& topology, std::optional<Scope> shard, const DasoOptions& options) {
    DasoTraining run(topology, shard, options);
    run.train(0, 14);
    auto found = run.drained();
    run.train(14, 15);  // with the mean of the optimizer's state
    const auto more = weights(run.model.module());
    found.insert(found.end(), more.begin(), more.end());
    return found;
  };
  for (const auto& topology : topologies())
    for (const auto policy : {MergePolicy::delta, MergePolicy::daso, MergePolicy::outer})
      for (const std::int64_t cooldown : {0, 3}) {
        const DasoOptions options{.phases = {.warmup = 2, .cooldown = cooldown, .total = 20},
                                  .interval = {.first = {3, 1}},
                                  .merge = {.policy = policy},
                                  .max_norm = 0.5};
        CHECK(distance(trained(topology, Scope::node, options), trained(topology, std::nullopt, options)) < 1e-12);
      }
  for (const auto& topology : topologies())
    for (const std::int64_t fragments : {2, 3, 50}) {  // some of 50 are empty
      const DasoOptions options{.phases = {.warmup = 2}, .interval = {.first = {3, 1}}, .fragments = fragments};
      CHECK(distance(trained(topology, Scope::node, options), trained(topology, std::nullopt, options)) < 1e-12);
    }
}

TEST_CASE("groups of parameters keep their options if ranks share the optimizer's work", "[nn][shard]") {
  for (const auto& topology : topologies()) {
    const auto trained = [&](std::optional<Scope> shard) {
      ht::nn::DataParallel model(std::make_shared<SmallNet>(), topology, {.shard = shard});
      torch::optim::SGD sgd({torch::optim::OptimizerParamGroup(model.parameters(*model.module().first)),
                             torch::optim::OptimizerParamGroup(model.parameters(*model.module().second),
                                                               std::make_unique<torch::optim::SGDOptions>(0.01))},
                            torch::optim::SGDOptions(0.1));
      for (std::int64_t b = 0; b < 3; ++b) {
        sgd.zero_grad();
        backward(model, b);
        model.step(sgd);
      }
      return weights(model.module());
    };
    CHECK(distance(trained(Scope::all), trained(std::nullopt)) < 1e-14);
  }
}

TEST_CASE("calls that would make weights of a shared optimizer differ are errors on all ranks", "[nn][shard]") {
  const ht::Topology topology(ht::world());
  ht::nn::DataParallel model(std::make_shared<SmallNet>(), topology, {.shard = Scope::all});
  torch::optim::SGD own(model.parameters(), 0.1), whole(model.module().parameters(), 0.1);
  backward(model, 0);
  model.average_gradients();
  CHECK_THAT(message_of<ht::ValueError>([&] { model.update(whole); }), Catch::Contains("parameters()"));
  own.step();
  backward(model, 1);
  CHECK_THAT(message_of<ht::ValueError>([&] { model.average_gradients(); }), Catch::Contains("update(optimizer)"));
  ht::nn::DataParallelMultiGPU other(std::make_shared<SmallNet>(), topology, {.shard = Scope::all});
  CHECK_THROWS_AS(ht::nn::DASO(other, own), ht::ValueError);
  CHECK_THROWS_AS(other.send_gradients(Scope::node), ht::ValueError);
}

TEST_CASE("Parameters that are given other memory come back with their values", "[nn][shard]") {
  for (const auto shard : {std::optional(Scope::all), std::optional<Scope>()}) {
    const auto trained = [&](bool moved) {
      ht::nn::DataParallel model(std::make_shared<SmallNet>(), ht::Topology(ht::world()), {.shard = shard});
      torch::optim::SGD sgd(model.parameters(), 0.1);
      for (std::int64_t b = 0; b < 3; ++b) {
        const auto other = torch::full({8, 5}, 0.1 * static_cast<double>(b), torch::kDouble);
        if (moved) model.module().first->weight.set_data(other);
        else {
          const at::NoGradGuard no_grad;
          model.module().first->weight.copy_(other);
        }
        sgd.zero_grad();
        backward(model, b);
        model.step(sgd);
      }
      CHECK(model.equal_on_all_ranks());
      return weights(model.module());
    };
    CHECK(equal(trained(true), trained(false)));
  }
  ht::nn::DataParallel model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  model.module().to(torch::kFloat);
  const auto [x, y] = my_batch(0, 4);
  torch::mse_loss(model(x.to(torch::kFloat)), y.to(torch::kFloat)).backward();
  CHECK_THAT(message_of<ht::ValueError>([&] { model.average_gradients(); }), Catch::Contains("Double"));
}

TEST_CASE("Two parameters that share memory are refused", "[nn][shard]") {
  auto net = std::make_shared<SmallNet>();
  net->second->bias.set_data(net->first->bias.detach().narrow(0, 2, 3));
  CHECK_THAT(message_of<ht::ValueError>([&] { ht::nn::DataParallel(net, ht::Topology(ht::world())); }),
             Catch::Contains("share memory"));
}
