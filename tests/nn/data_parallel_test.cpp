#include "training.hpp"
#include "../support.hpp"

namespace {

// Every kind of parameter that a flat message has to cope with.
struct OddNet : torch::nn::Module {
  at::Tensor frozen, transposed, empty, single, shared, unused, sometimes;

  OddNet() {
    const auto f64 = torch::kDouble;
    frozen = register_parameter("frozen", torch::full({3}, 5.0, f64), false);
    transposed = register_parameter("transposed", torch::arange(6, f64).view({2, 3}).t());
    empty = register_parameter("empty", torch::empty({0, 4}, f64));
    single = register_parameter("single", torch::ones({2, 2}, torch::kFloat));
    shared = register_parameter("shared", torch::ones({2}, f64));
    register_parameter("shared_again", shared);
    unused = register_parameter("unused", torch::ones({4}, f64));
    sometimes = register_parameter("sometimes", torch::ones({2}, f64));
    register_buffer("statistic", torch::full({2}, 1.0 + ht::world().rank(), f64));
  }
  at::Tensor forward(double x) {
    auto y = (transposed * frozen.view({3, 1})).sum() * x + (shared * shared).sum() * x +
             single.sum().to(torch::kDouble) * x + empty.sum();
    return ht::world().rank() == 0 ? y + sometimes.sum() : y;
  }
};

}  // namespace

TEST_CASE("Ranks with batch b train as one rank with all their batches", "[nn][data_parallel]") {
  const std::int64_t per_rank = 4, all = per_rank * ht::world().size();
  const ht::Topology alone(ht::self());
  ht::nn::DataParallel whole(std::make_shared<SmallNet>(), alone);
  torch::optim::SGD sgd(whole.parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  for (std::int64_t b = 0; b < 10; ++b) {
    const auto [x, y] = samples(all, 100 + static_cast<std::uint64_t>(b));
    sgd.zero_grad();
    torch::mse_loss(whole(x), y).backward();
    whole.average_gradients();
    sgd.step();
  }

  for (const auto& topology : topologies()) {
    const auto trained =
        train_synchronously<torch::optim::SGD>(topology, torch::optim::SGDOptions(0.1).momentum(0.9), 10);
    CHECK(distance(trained, weights(whole.module())) < 1e-12);
  }
}

TEST_CASE("Wrapping changes weights only by the broadcast from rank 0", "[nn][data_parallel]") {
  const ht::Topology topology(ht::world());
  auto net = std::make_shared<SmallNet>();
  const auto expected = weights(*net);
  const at::NoGradGuard no_grad;
  for (auto& parameter : net->parameters()) parameter.add_(ht::world().rank());

  const auto refused = message_of<ht::ValueError>([&] { ht::nn::DataParallel(net, topology, {.broadcast = false}); });
  ht::nn::DataParallel model(net, topology);

  CHECK(equal(weights(*net), expected));
  CHECK(model.equal_on_all_ranks());
  CHECK(refused.empty() == (ht::world().size() == 1));
}

TEST_CASE("Modules that differ between ranks are refused on all", "[nn][data_parallel]") {
  if (ht::world().size() == 1) return;
  const ht::Topology topology(ht::world());
  auto net = std::make_shared<torch::nn::LinearImpl>(3, ht::world().rank() == 0 ? 2 : 4);

  const auto message = message_of<ht::ValueError>([&] { ht::nn::DataParallel(net, topology); });

  CHECK_THAT(message, Catch::Contains("rank 1"));
}

TEST_CASE("Odd parameters: frozen, transposed, empty, mixed dtypes, shared, unused", "[nn][data_parallel]") {
  for (const auto& topology : topologies()) {
    auto net = std::make_shared<OddNet>();
    ht::nn::DataParallel model(net, topology);
    torch::optim::SGD sgd(model.parameters(), 0.5);
    const double ranks = ht::world().size(), mean = (ranks + 1) / 2;

    sgd.zero_grad();
    model(1.0 + ht::world().rank()).backward();
    model.average_gradients();
    sgd.step();

    CHECK(model.parameters().size() == 6);
    CHECK(net->frozen.equal(torch::full({3}, 5.0, torch::kDouble)));
    CHECK(torch::allclose(net->transposed, torch::arange(6, torch::kDouble).view({2, 3}).t() - 2.5 * mean));
    CHECK(torch::allclose(net->single, torch::full({2, 2}, 1 - 0.5 * mean, torch::kFloat)));
    CHECK(torch::allclose(net->shared, torch::full({2}, 1 - mean, torch::kDouble)));
    CHECK(net->unused.equal(torch::ones({4}, torch::kDouble)));
    CHECK(torch::allclose(net->sometimes, torch::full({2}, 1 - 0.5 / ranks, torch::kDouble)));
    CHECK(model.equal_on_all_ranks());
  }
}

TEST_CASE("Buffers are averaged on request", "[nn][data_parallel]") {
  const ht::Topology topology(ht::world());
  auto net = std::make_shared<torch::nn::BatchNorm1dImpl>(3);
  ht::nn::DataParallel model(net, topology);
  model(torch::full({4, 3}, 10.0 * ht::world().rank()));

  model.average_buffers();

  const double mean = 10.0 * 0.1 * (ht::world().size() - 1) / 2;
  CHECK(torch::allclose(net->running_mean, torch::full({3}, mean)));
  CHECK(net->num_batches_tracked.item<std::int64_t>() == 1);
  CHECK(model.equal_on_all_ranks());
}

TEST_CASE("A gradient that is not finite on one rank throws on all", "[nn][data_parallel]") {
  const ht::Topology topology(ht::world());
  const int last = ht::world().size() - 1;
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    ht::nn::DataParallel model(std::make_shared<SmallNet>(), topology);
    backward(model, 0);
    const at::NoGradGuard no_grad;
    if (ht::world().rank() == last) model.module().second->weight.mutable_grad()[0][0] = bad;

    const auto message = message_of<ht::ValueError>([&] { model.average_gradients(); });

    CHECK_THAT(message, Catch::Contains("[DataParallel]") && Catch::Contains("second.weight"));
    if (last > 0) CHECK_THAT(message, Catch::Contains("rank " + std::to_string(last)));
  }
}
