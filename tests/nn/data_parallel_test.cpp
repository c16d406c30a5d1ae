#include "training.hpp"
#include "../support.hpp"

namespace {

// All kinds of parameters that a flat message has to support.
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

  CHECK_THAT(message,
             Catch::Contains("with weight Float (2, 3) true on rank 0 and with weight Float (4, 3) true on rank 1"));
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
    CHECK(equals(net->frozen, torch::full({3}, 5.0, torch::kDouble)));
    CHECK(near_to(net->transposed, torch::arange(6, torch::kDouble).view({2, 3}).t() - 2.5 * mean));
    CHECK(near_to(net->single, torch::full({2, 2}, 1 - 0.5 * mean, torch::kFloat)));
    CHECK(near_to(net->shared, torch::full({2}, 1 - mean, torch::kDouble)));
    CHECK(equals(net->unused, torch::ones({4}, torch::kDouble)));
    CHECK(near_to(net->sometimes, torch::full({2}, 1 - 0.5 / ranks, torch::kDouble)));
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
  CHECK(near_to(net->running_mean, torch::full({3}, mean)));
  CHECK(net->num_batches_tracked.item<std::int64_t>() == 1);
  CHECK(model.equal_on_all_ranks());
}

TEST_CASE("A gradient that is not finite on one rank throws on all", "[nn][data_parallel]") {
  const ht::Topology topology(ht::world());
  const int last = ht::world().size() - 1;
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    ht::nn::DataParallel model(std::make_shared<SmallNet>(), topology);
    model.module().second->weight.register_hook([&](const at::Tensor& gradient) {
      auto changed = gradient.clone();
      if (ht::world().rank() == last) changed[0][0] = bad;
      return changed;
    });
    backward(model, 0);

    const auto message = message_of<ht::ValueError>([&] { model.average_gradients(); });

    CHECK_THAT(message, Catch::Contains("[DataParallel]") && Catch::Contains("second.weight"));
    if (last > 0) CHECK_THAT(message, Catch::Contains("rank " + std::to_string(last)));
  }
}

TEST_CASE("an error names the parameter that was not finite in its batch", "[nn][data_parallel]") {
  ht::nn::DataParallel model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  bool first = true;
  const auto bad = [&](bool now) {
    return [&first, now](const at::Tensor& g) { return first == now && ht::world().rank() == 0 ? g * NAN : g; };
  };
  model.module().first->weight.register_hook(bad(true));
  model.module().second->bias.register_hook(bad(false));
  backward(model, 0);
  CHECK_THAT(message_of<ht::ValueError>([&] { model.average_gradients(); }), Catch::Contains("first.weight"));
  first = false;
  model->zero_grad();
  backward(model, 1);
  CHECK_THAT(message_of<ht::ValueError>([&] { model.average_gradients(); }), Catch::Contains("second.bias"));
}

TEST_CASE("Parameters whose gradients share memory are averaged once each", "[nn][data_parallel]") {
  struct Sum : torch::nn::Module {
    at::Tensor a = register_parameter("a", torch::ones({3}, torch::kDouble));
    at::Tensor b = register_parameter("b", torch::ones({3}, torch::kDouble));
    at::Tensor forward() { return (4 * (a.unsqueeze(0) + b.unsqueeze(0))).sum(); }
  };
  for (const std::int64_t bucket_bytes : {1, 1 << 20})
    for (const auto& topology : topologies()) {
      ht::nn::DataParallel model(std::make_shared<Sum>(), topology, {.gradients = {.bucket_bytes = bucket_bytes}});
      ht::nn::GradScaler scaler({.initial = 8});
      scaler.scale(model()).backward();
      CHECK(scaler.finish(model));
      for (const auto& parameter : model.parameters())
        CHECK(equals(parameter.grad(), torch::full({3}, 4.0, torch::kDouble)));
      model->zero_grad();
      model.backward(model(), 2.0);
      model.average_gradients();
      for (const auto& parameter : model.parameters())
        CHECK(equals(parameter.grad(), torch::full({3}, 4.0, torch::kDouble)));
    }
}

TEST_CASE("A parameter that is thawed after wrapping is an error on all ranks", "[nn][data_parallel]") {
  auto net = std::make_shared<SmallNet>();
  net->second->bias.set_requires_grad(false);
  ht::nn::DataParallel model(net, ht::Topology(ht::world()));
  backward(model, 0);
  model.average_gradients();
  if (ht::world().rank() == 0) net->second->bias.set_requires_grad(true);
  backward(model, 1);
  CHECK_THAT(message_of<ht::ValueError>([&] { model.average_gradients(); }), Catch::Contains("frozen"));
}

TEST_CASE("if no rank has rows, stored gradients do not change", "[nn][data_parallel]") {
  ht::nn::DataParallel model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  const auto [x, y] = my_batch(0, 4);
  model.backward(torch::mse_loss(model(x), y), 4);
  model.average_gradients();
  const auto kept = model.module().first->weight.grad().clone() * ht::world().size();
  model.backward(at::Tensor(), 0);
  model.average_gradients();
  CHECK(near_to(model.module().first->weight.grad(), kept));
  CHECK_THROWS_AS(model.backward(at::Tensor(), -1), ht::ValueError);
}

TEST_CASE("The variance of a BatchNorm that ranks share is that of all rows", "[nn][data_parallel]") {
  auto net = std::make_shared<torch::nn::BatchNorm1dImpl>(torch::nn::BatchNormOptions(3).momentum(1.0));
  ht::nn::DataParallel model(net, ht::Topology(ht::world()));
  const auto rows = torch::randn({8, 3}, at::detail::createCPUGenerator(3));
  model(rows + 10.0 * ht::world().rank());

  model.average_buffers();

  std::vector<at::Tensor> all;
  for (int rank = 0; rank < ht::world().size(); ++rank) all.push_back(rows + 10.0 * rank);
  // Within each rank its unbiased variance, between the ranks that of their means.
  const auto between = torch::stack(all).mean(1).var(0, false);
  CHECK(near_to(net->running_mean, torch::cat(all).mean(0), 1e-4, 1e-4));
  CHECK(near_to(net->running_var, rows.var(0) + between, 1e-4, 1e-4));
  CHECK(model.equal_on_all_ranks());
}

TEST_CASE("Gradients set out while backward runs, in buckets of any size", "[nn][data_parallel]") {
  for (const auto& topology : topologies()) {
    std::vector<at::Tensor> expected;
    for (const std::int64_t bytes : {1, 200, 1 << 20}) {
      ht::nn::DataParallel model(std::make_shared<SmallNet>(), topology, {.gradients = {.bucket_bytes = bytes}});
      const auto calls = ht::total_counters().calls;
      backward(model, 3);
      const bool under_way = ht::total_counters().calls > calls;
      model.average_gradients();

      CHECK(under_way == (ht::world().size() > 1));
      std::vector<at::Tensor> gradients;
      for (const auto& parameter : model.parameters()) gradients.push_back(parameter.grad());
      if (expected.empty()) expected = gradients;
      CHECK(distance(gradients, expected) < 1e-15);
    }
  }
}

TEST_CASE("Accumulated batches train as one large batch", "[nn][data_parallel]") {
  for (const auto& topology : topologies()) {
    ht::nn::DataParallel parts(std::make_shared<SmallNet>(), topology), whole(std::make_shared<SmallNet>(), topology);
    const auto [x, y] = my_batch(5, 8);
    {
      const auto guard = parts.no_sync();
      torch::mse_loss(parts(x.narrow(0, 0, 4)), y.narrow(0, 0, 4)).backward();
    }
    torch::mse_loss(parts(x.narrow(0, 4, 4)), y.narrow(0, 4, 4)).backward();
    parts.average_gradients();
    (2 * torch::mse_loss(whole(x), y)).backward();
    whole.average_gradients();

    for (std::size_t i = 0; i < parts.parameters().size(); ++i)
      CHECK(near_to(parts.parameters()[i].grad(), whole.parameters()[i].grad(), 1e-13, 1e-13));
  }
}

TEST_CASE("A second backward before the average is refused", "[nn][data_parallel]") {
  const ht::Topology topology(ht::world());
  ht::nn::DataParallel model(std::make_shared<SmallNet>(), topology);
  backward(model, 0);

  const auto message = message_of<ht::ValueError>([&] { backward(model, 1); });

  CHECK_THAT(message, Catch::Contains("no_sync()"));
  (void)model.finish_gradients();
  for (auto parameter : model.parameters()) parameter.mutable_grad() = at::Tensor();
  backward(model, 0);
  model.average_gradients();
}

TEST_CASE("After a second backward that was refused a step is that of the first, on all ranks", "[nn][data_parallel]") {
  using ht::nn::Scope;
  const auto trained = [](const ht::Topology& topology, std::optional<Scope> shard, bool weighed, bool again) {
    ht::nn::DataParallel model(std::make_shared<SmallNet>(), topology,
                               {.gradients = {.bucket_bytes = 1}, .shard = shard});
    torch::optim::SGD sgd(model.parameters(), 0.1);
    const auto run = [&](std::int64_t batch) {
      const auto [x, y] = my_batch(batch, 4);
      const auto loss = torch::mse_loss(model(x), y);
      if (weighed) model.backward(loss, 4);
      else loss.backward();
    };
    for (std::int64_t batch = 0; batch < 3; ++batch) {
      model->zero_grad(batch == 1);
      run(batch);
      if (again) CHECK_THROWS_AS(run(7), ht::ValueError);
      if (again) model->zero_grad(batch == 2);
      model.step(sgd);
      CHECK(model.equal_on_all_ranks());
    }
    return weights(model.module());
  };
  for (const auto& topology : topologies())
    for (const auto shard : {std::optional<Scope>(), std::optional(Scope::all)})
      for (const bool weighed : {false, true})
        CHECK(equal(trained(topology, shard, weighed, true), trained(topology, shard, weighed, false)));
}

TEST_CASE("Uneven batches weigh by their rows, and a rank may have none", "[nn][data_parallel]") {
  const int p = ht::world().size(), rank = ht::world().rank();
  for (const auto& topology : topologies()) {
    ht::nn::DataParallel model(std::make_shared<SmallNet>(), topology);
    SmallNet single;
    const std::int64_t all = p * (p + 1) / 2 - 1;  // ranks have 0, 2, 3, ... rows
    const auto [x, y] = samples(p == 1 ? 3 : all, 9);
    torch::mse_loss(single.forward(x), y).backward();

    const std::int64_t rows = p == 1 ? 3 : rank == 0 ? 0 : rank + 1;
    const std::int64_t first = p == 1 ? 0 : rank == 0 ? 0 : rank * (rank + 1) / 2 - 1;
    const auto loss = torch::mse_loss(model(x.narrow(0, first, rows)), y.narrow(0, first, rows));
    model.backward(loss, static_cast<double>(rows));
    model.average_gradients();

    CHECK(model.samples() == static_cast<double>(p == 1 ? 3 : all));
    CHECK(model.idle() == (rows == 0));
    for (std::size_t i = 0; i < model.parameters().size(); ++i)
      CHECK(near_to(model.parameters()[i].grad(), single.parameters()[i].grad(), 1e-12, 1e-14));
  }
}

TEST_CASE("a parameter that no rank uses keeps no gradient, and the optimizer skips it", "[nn][data_parallel]") {
  for (const auto& topology : topologies()) {
    auto net = std::make_shared<OddNet>();
    ht::nn::DataParallel model(net, topology);
    torch::optim::AdamW adam(model.parameters(), torch::optim::AdamWOptions(0.1).weight_decay(0.5));
    adam.zero_grad();
    model(1.0).backward();
    model.average_gradients();
    adam.step();

    CHECK_FALSE(net->unused.grad().defined());
    CHECK(equals(net->unused, torch::ones({4}, torch::kDouble)));
    CHECK(net->sometimes.grad().defined());
    CHECK(model.equal_on_all_ranks());
  }
}

TEST_CASE("Narrow wires train as float32 does", "[nn][data_parallel]") {
  const auto train = [](const ht::Topology& topology, ht::Wire wire) {
    ht::nn::DataParallel model(std::make_shared<SmallNet>(torch::kFloat), topology, {.gradients = {.wire = wire}});
    torch::optim::SGD sgd(model.parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
    double loss = 0;
    for (std::int64_t b = 0; b < 150; ++b) {
      const auto [x, y] = my_batch(b, 16);
      sgd.zero_grad();
      const auto error = torch::mse_loss(model(x.to(torch::kFloat)), y.to(torch::kFloat));
      error.backward();
      model.average_gradients();
      sgd.step();
      if (b >= 140) loss += error.item<double>() / 10;
    }
    CHECK(model.equal_on_all_ranks());
    std::array<double, 1> mean{loss};
    ht::world().allreduce(mean);
    return mean[0] / ht::world().size();
  };
  for (const auto& topology : topologies()) {
    const auto exact = train(topology, ht::Wire::float32);
    CHECK(train(topology, ht::Wire::bfloat16) == Approx(exact).epsilon(0.02));
    CHECK(train(topology, ht::Wire::int8) == Approx(exact).epsilon(0.05));
  }
}

TEST_CASE("Reproducible gradients have the same bits on every topology and in any buckets", "[nn][data_parallel]") {
  std::vector<at::Tensor> expected;
  for (const auto& topology : topologies())
    for (const std::int64_t bytes : {1, 200, 1 << 20}) {
      ht::nn::DataParallel model(std::make_shared<SmallNet>(torch::kFloat), topology,
                                 {.gradients = {.bucket_bytes = bytes, .reproducible = true}});
      const auto [x, y] = my_batch(3, 16);
      torch::mse_loss(model(x.to(torch::kFloat)), y.to(torch::kFloat)).backward();
      model.average_gradients();
      std::vector<at::Tensor> gradients;
      for (const auto& parameter : model.parameters()) gradients.push_back(parameter.grad());
      if (expected.empty()) expected = gradients;
      for (std::size_t i = 0; i < expected.size(); ++i) CHECK(equals(gradients[i], expected[i]));
    }
  const ht::nn::GradientOptions both{.wire = ht::Wire::bfloat16, .reproducible = true};
  CHECK_THROWS_AS(
      ht::nn::DataParallel(std::make_shared<SmallNet>(torch::kFloat), topologies().front(), {.gradients = both}),
      ht::ValueError);
}

TEST_CASE("Buffers may be those of rank 0", "[nn][data_parallel]") {
  const ht::Topology topology(ht::world());
  auto net = std::make_shared<torch::nn::BatchNorm1dImpl>(3);
  ht::nn::DataParallel model(net, topology, {.buffers = ht::nn::BufferPolicy::rank0});
  model(torch::full({4, 3}, 1.0 + ht::world().rank()));

  model.average_buffers();

  CHECK(near_to(net->running_mean, torch::full({3}, 0.1)));
  CHECK(model.equal_on_all_ranks());
}
