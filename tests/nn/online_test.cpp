#include "training.hpp"
#include "../support.hpp"

#include <heatpp_nn/models/unet.hpp>
#include <heatpp_nn/parallel/mixed_precision.hpp>
#include <heatpp_nn/parallel/online.hpp>
#include <heatpp_nn/parallel/sync_batch_norm.hpp>
#include <heatpp_nn/training/stop_signal.hpp>

using namespace heatpp::nn;

TEST_CASE("A signal to one rank stops all at the same batch", "[nn][stop]") {
  const int last = ht::world().size() - 1;
  std::int64_t stopped_at = -1;
  {
    StopSignal stop(ht::world(), {SIGUSR1});
    for (std::int64_t batch = 0; batch < 10 && stopped_at < 0; ++batch) {
      if (batch == 3 && ht::world().rank() == last) std::raise(SIGUSR1);
      if (stop.agreed()) stopped_at = batch;
    }
    CHECK(stop.agreed());
  }
  CHECK(stopped_at == 4);
  StopSignal fresh(ht::world(), {SIGUSR1});
  CHECK_FALSE(fresh.agreed());
  CHECK_FALSE(fresh.agreed());
}

TEST_CASE("Autocast computes products in bfloat16 and trains float32 weights", "[nn][precision]") {
  const ht::Topology topology(ht::world());
  DataParallel model(std::make_shared<SmallNet>(torch::kFloat), topology);
  torch::optim::SGD sgd(model.parameters(), 0.1);
  const auto [x, y] = my_batch(0, 8);
  {
    const Autocast half;
    CHECK(model(x.to(torch::kFloat)).scalar_type() == torch::kBFloat16);
  }
  CHECK(model(x.to(torch::kFloat)).scalar_type() == torch::kFloat);
  double first = 0, loss = 0;
  for (int step = 0; step < 60; ++step) {
    sgd.zero_grad();
    at::Tensor error;
    {
      const Autocast half;
      error = torch::mse_loss(model(x.to(torch::kFloat)).to(torch::kFloat), y.to(torch::kFloat));
    }
    error.backward();
    model.average_gradients();
    sgd.step();
    loss = error.item<double>();
    if (step == 0) first = loss;
  }
  CHECK(loss < 0.5 * first);
  CHECK(model.equal_on_all_ranks());
}

TEST_CASE("A batch that overflows on one rank is left out on all, with a smaller scale", "[nn][precision]") {
  const ht::Topology topology(ht::world());
  DataParallel model(std::make_shared<SmallNet>(torch::kFloat), topology);
  DataParallel plain(std::make_shared<SmallNet>(torch::kFloat), topology);
  torch::optim::SGD sgd(model.parameters(), 0.1), other(plain.parameters(), 0.1);
  GradScaler scaler({.initial = 1024, .growth_interval = 3});
  std::vector<double> scales;
  for (std::int64_t b = 0; b < 6; ++b) {
    const auto [x, y] = my_batch(b, 4);
    const bool bad = b == 1;
    const auto loss_of = [&, &x = x, &y = y](auto& net) {
      return torch::mse_loss(net(x.to(torch::kFloat)), y.to(torch::kFloat));
    };
    sgd.zero_grad();
    auto loss = scaler.scale(loss_of(model));
    if (bad && ht::world().rank() == ht::world().size() - 1) loss = loss * std::numeric_limits<float>::infinity();
    loss.backward();
    const bool finite = scaler.finish(model);
    CHECK(finite == !bad);
    if (finite) sgd.step();
    scales.push_back(scaler.state().scale);
    if (bad) continue;
    other.zero_grad();
    loss_of(plain).backward();
    plain.average_gradients();
    other.step();
  }
  const std::vector<double> expected{1024, 512, 512, 512, 1024, 1024};
  CHECK(scales == expected);
  CHECK(distance(weights(model.module()), weights(plain.module())) < 1e-6);
  CHECK(model.equal_on_all_ranks());
  CHECK_THROWS_AS(GradScaler({.growth = 1}), ht::ValueError);
}

TEST_CASE("A replay buffer keeps every row with the same probability", "[nn][online]") {
  constexpr std::int64_t capacity = 50, offered = 200, trials = 400;
  std::vector<double> kept(offered, 0);
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    ReplayBuffer buffer(capacity, seed);
    for (std::int64_t i = 0; i < offered; i += 10) {
      const auto rows = torch::arange(i, i + 10, torch::kDouble).unsqueeze(1);
      buffer.add(rows, 2 * rows);
    }
    CHECK(buffer.size() == capacity);
    const auto state = buffer.state();
    CHECK(equals(state.at("replay_inputs") * 2, state.at("replay_targets")));
    for (std::int64_t i = 0; i < capacity; ++i)
      kept[static_cast<std::size_t>(state.at("replay_inputs")[i].item<double>())] += 1;
  }
  // Chi-square with 199 degrees of freedom, of counts with a mean of 100 and a variance of 75: beyond 280 once in 10^4.
  double chi2 = 0;
  for (const auto count : kept) chi2 += (count - 100) * (count - 100) / 75;
  CHECK(chi2 < 280);
  CHECK(chi2 > 130);
}

TEST_CASE("a replay buffer continues from its state", "[nn][online]") {
  ReplayBuffer buffer(8, 3);
  const auto rows = torch::arange(20, torch::kFloat).unsqueeze(1);
  buffer.add(rows, rows);
  (void)buffer.sample(5);
  ReplayBuffer again(8, 3);
  again.set_state(buffer.state());
  buffer.add(rows, rows);
  again.add(rows, rows);

  CHECK(equals(buffer.sample(6).inputs, again.sample(6).inputs));
  CHECK(again.offered() == 40);
  CHECK_THROWS_AS(buffer.add(rows, rows.narrow(0, 0, 3)), ht::ValueError);
  CHECK_THROWS_AS(buffer.add(rows.view({10, 2}), rows.view({10, 2})), ht::ValueError);
  CHECK_THROWS_AS(ReplayBuffer(0, 1), ht::ValueError);
  CHECK_THROWS_AS(ReplayBuffer(4, 1).sample(1), ht::ValueError);
  CHECK_THROWS_AS(again.set_state({}), ht::ValueError);
  CHECK_THROWS_AS(again.set_state({{"replay_counts", torch::zeros({2}, torch::kLong)}}), ht::ValueError);
  CHECK_THROWS_AS(again.set_state({{"replay_counts", torch::zeros({3}, torch::kDouble)}}), ht::ValueError);
}

TEST_CASE("A network learns from a stream of distributed arrays", "[nn][online]") {
  for (const auto& topology : topologies()) {
    DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology);
    torch::optim::Adam adam(model.parameters(), torch::optim::AdamOptions(0.02));
    DASO daso(model, adam, {.phases = {.warmup = 5}, .interval = {.first = {2, 1}}});
    OnlineTrainer trainer(daso, [&](const at::Tensor& x, const at::Tensor& y) { return torch::mse_loss(model(x), y); },
                          {.capacity = 256, .updates = 2});
    double loss = 0, first = 0;
    for (std::int64_t step = 0; step < 60; ++step) {
      const auto [x, y] = my_batch(step, 8);
      loss = trainer.train_step(ht::from_local(x, {.split = 0}), ht::from_local(y, {.split = 0}));
      if (step == 0) first = loss;
    }
    daso.drain();
    CHECK(loss < 0.3 * first);
    CHECK(model.equal_on_all_ranks());
    CHECK(trainer.buffer().offered() == 480);
    const auto row = torch::zeros({1, 5}, torch::kDouble);
    CHECK_THROWS_AS(trainer.train_step(ht::from_local(row, {.split = 0}), ht::from_local(row, {.split = 1})),
                    ht::ValueError);
  }
}

TEST_CASE("A rank without rows trains along", "[nn][online]") {
  const bool empty = ht::world().size() > 1 && ht::world().rank() == 0;
  for (const auto& topology : topologies()) {
    DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology);
    torch::optim::SGD sgd(model.parameters(), 0.05);
    DASO daso(model, sgd, {.phases = {.warmup = 5}, .interval = {.first = {2, 1}}});
    OnlineTrainer trainer(daso, [&](const at::Tensor& x, const at::Tensor& y) { return torch::mse_loss(model(x), y); });
    double loss = 0, first = 0;
    for (std::int64_t step = 0; step < 40; ++step) {
      const auto [x, y] = my_batch(step, 8);
      const auto rows = empty ? 0 : 8;
      loss = trainer.train_step(x.narrow(0, 0, rows), y.narrow(0, 0, rows));
      if (step == 0) first = loss;
    }
    daso.drain();
    CHECK(std::isnan(loss) == empty);
    if (!empty) CHECK(loss < 0.7 * first);
    CHECK(model.equal_on_all_ranks());
  }
}

TEST_CASE("A rank without rows takes part in norms over all ranks", "[nn][online]") {
  const bool late = ht::world().rank() == 1;
  const ht::Topology topology(ht::world());
  torch::manual_seed(1);
  DataParallel model(std::make_shared<UNet>(UNetOptions{.width = 4, .depth = 2}), topology);
  synchronise_norms(model.module(), topology);
  torch::optim::SGD sgd(model.parameters(), 0.05);
  OnlineTrainer trainer(model, sgd,
                        [&](const at::Tensor& x, const at::Tensor& y) { return torch::mse_loss(model(x), y); });
  const auto x = torch::randn({6, 1, 8, 8}), y = x.square();

  for (int step = 0; step < 4; ++step) {
    const bool empty = late && step < 2;
    const auto rows = empty ? 0 : 6;
    const auto loss = trainer.train_step(x.narrow(0, 0, rows), y.narrow(0, 0, rows));
    CHECK(std::isfinite(loss) == !empty);
  }

  CHECK(model.equal_on_all_ranks());
  for (const auto& weight : weights(model.module())) CHECK(all_finite(weight));
}

TEST_CASE("arguments that do not fit on one rank are an error on all in the first step", "[nn][online]") {
  const bool other = ht::world().rank() == ht::world().size() - 1;
  const ht::Topology topology(ht::world());
  DataParallel model(std::make_shared<SmallNet>(), topology);
  torch::optim::SGD sgd(model.parameters(), 0.05);
  const auto [x, y] = my_batch(0, 8);
  const auto loss = [&](const at::Tensor& in, const at::Tensor& target) { return torch::mse_loss(model(in), target); };
  const auto trainer = [&](const OnlineOptions& options = {}) { return OnlineTrainer(model, sgd, loss, options); };
  if (ht::world().size() > 1) CHECK_THROWS_AS(trainer({.updates = other ? 2 : 1}), ht::ValueError);
  CHECK_THROWS_AS(trainer({.updates = other ? 0 : 1}), ht::ValueError);
  CHECK_THROWS_AS(trainer({.capacity = other ? 0 : 8}), ht::ValueError);

  if (ht::world().size() > 1)
    CHECK_THROWS_WITH(trainer().train_step(other ? x.to(torch::kFloat) : x, y), Catch::Contains("float32 (5,)"));
  CHECK_THROWS_AS(trainer().train_step(x, other ? y.narrow(0, 0, 3) : y), ht::ValueError);
  const auto rows = other ? 8 : 0;  // no other rank calls the network
  CHECK_THROWS_WITH(trainer().train_step(x.narrow(0, 0, rows).narrow(1, 0, 4), y.narrow(0, 0, rows)),
                    Catch::Contains("[train_step]") && !Catch::Contains("frame #"));

  auto good = trainer();
  CHECK(std::isfinite(good.train_step(x, y)));
  CHECK_THROWS_AS(good.train_step(x, y.narrow(0, 0, 3)), ht::ValueError);
  CHECK(std::isfinite(good.train_step(x, y)));
}

TEST_CASE("A replay buffer keeps rows of several fields together", "[nn][online]") {
  ReplayBuffer buffer(16, 5);
  const auto rows = torch::arange(40, torch::kLong);
  const auto fields = [&](const at::Tensor& of) {
    return std::pair{Tensors{of.to(torch::kDouble).unsqueeze(1).repeat({1, 3}), of},
                     Tensors{2 * of, of.to(torch::kFloat).view({-1, 1, 1})}};
  };
  const auto belongs = [&](const Batch& batch) {
    const auto [inputs, targets] = fields(batch.more_inputs.at(0));
    return equal(batch.all_inputs(), inputs) && equal(batch.all_targets(), targets);
  };
  const auto [inputs, targets] = fields(rows);
  buffer.add(inputs, targets);
  CHECK(belongs(buffer.sample(20)));

  ReplayBuffer again(16, 5);
  again.set_state(buffer.state());
  const auto drawn = buffer.sample(9), same = again.sample(9);
  CHECK(belongs(same));
  CHECK(equals(drawn.targets, same.targets));
  CHECK(again.state().contains("replay_targets_1"));

  CHECK_THROWS_AS(buffer.add(inputs, {targets[0]}), ht::ValueError);
  CHECK_THROWS_AS(buffer.add({inputs[0]}, {inputs[1], targets[0], targets[1]}), ht::ValueError);
  CHECK_THROWS_AS(buffer.add(inputs, {targets[0], targets[1].narrow(0, 0, 5)}), ht::ValueError);
  CHECK_THROWS_AS(buffer.add(inputs, {targets[0].to(torch::kInt), targets[1]}), ht::ValueError);
  CHECK_THROWS_AS(ReplayBuffer(4, 1).add(inputs, Tensors{}), ht::ValueError);
  CHECK(belongs(buffer.sample(20)));
}

TEST_CASE("A network of several inputs and outputs learns from a stream as one of one does", "[nn][online]") {
  for (const auto& topology : topologies()) {
    DataParallel one(std::make_shared<SmallNet>(), topology), several(std::make_shared<SmallNet>(), topology);
    torch::optim::SGD of_one(one.parameters(), 0.05), of_several(several.parameters(), 0.05);
    OnlineTrainer plain(one, of_one,
                        [&](const at::Tensor& x, const at::Tensor& y) { return torch::mse_loss(one(x), y); });
    OnlineTrainer fields(several, of_several, [&](const Tensors& x, const Tensors& y) {
      return torch::mse_loss(several(torch::cat(x, 1)), torch::cat(y, 1));
    });
    const auto cut = [](const at::Tensor& x) { return ht::from_local(x, {.split = 0}); };
    for (std::int64_t step = 0; step < 6; ++step) {
      const auto [x, y] = my_batch(step, ht::world().rank() == 0 && step == 0 ? 0 : 8);
      const Tensors inputs{x.narrow(1, 0, 2), x.narrow(1, 2, 3)}, targets{y.narrow(1, 0, 1), y.narrow(1, 1, 2)};
      const auto expected = plain.train_step(x, y);
      const auto loss = step % 2 == 0
                            ? fields.train_step(inputs, targets)
                            : fields.train_step({cut(inputs[0]), cut(inputs[1])}, {cut(targets[0]), cut(targets[1])});
      CHECK((loss == expected || (std::isnan(loss) && std::isnan(expected))));
    }
    CHECK(equal(weights(one.module()), weights(several.module())));
    const auto row = cut(torch::zeros({1, 5}, torch::kDouble));
    CHECK_THROWS_AS(fields.train_step({row, ht::from_local(torch::zeros({1, 5}), {.split = 1})}, {row}),
                    ht::ValueError);
    CHECK_THROWS_AS(fields.train_step(std::vector<ht::DNDarray>{}, {row}), ht::ValueError);
  }
}
