#include "training.hpp"
#include "../support.hpp"

using namespace heatpp::nn;
using torch::optim::SGDOptions;
using Kind = DasoEvent::Kind;

TEST_CASE("One node trains synchronously under any schedule", "[nn][daso]") {
  const ht::Topology topology(ht::world(), {.node_of = [](int) { return 0; }});
  const auto options = SGDOptions(0.1).momentum(0.9);
  const auto expected = train_synchronously<torch::optim::SGD>(topology, options, 12);

  for (const auto policy : {MergePolicy::daso, MergePolicy::alpha, MergePolicy::delta})
    CHECK(equal(train_daso<torch::optim::SGD>(topology, options, 12,
                                              {.interval = {.first = {2, 1}}, .merge = {.policy = policy}}),
                expected));
}

TEST_CASE("Warm-up and cool-down equal DataParallel to the bit", "[nn][daso]") {
  for (const auto& topology : topologies()) {
    const auto sgd = SGDOptions(0.1).momentum(0.9);
    const auto adam = torch::optim::AdamOptions(0.01);
    const DasoOptions warm{.phases = {.warmup = 10}}, cool{.phases = {.cooldown = 10, .total = 10}};

    CHECK(equal(train_daso<torch::optim::SGD>(topology, sgd, 10, warm),
                train_synchronously<torch::optim::SGD>(topology, sgd, 10)));
    CHECK(equal(train_daso<torch::optim::Adam>(topology, adam, 10, cool),
                train_synchronously<torch::optim::Adam>(topology, adam, 10)));
  }
}

TEST_CASE("Averaging weights at once at every batch is synchronous SGD", "[nn][daso]") {
  for (const auto& topology : topologies()) {
    const auto options = SGDOptions(0.1).momentum(0.9).weight_decay(1e-3);

    const auto averaged = train_daso<torch::optim::SGD>(topology, options, 20, {.interval = {.first = {1, 0}}});

    CHECK(distance(averaged, train_synchronously<torch::optim::SGD>(topology, options, 20)) < 1e-12);
  }
}

TEST_CASE("After drain and in the cool-down all ranks hold the same bits", "[nn][daso]") {
  const auto policy = GENERATE(MergePolicy::daso, MergePolicy::alpha, MergePolicy::delta);
  for (const auto& topology : topologies()) {
    torch::manual_seed(1);
    auto net = std::make_shared<torch::nn::SequentialImpl>(torch::nn::Linear(5, 6), torch::nn::BatchNorm1d(6),
                                                           torch::nn::Linear(6, 3));
    net->to(torch::kDouble);
    DataParallelMultiGPU model(net, topology);
    torch::optim::AdamW adam(model.parameters(), torch::optim::AdamWOptions(0.01));
    DASO daso(model, adam,
              {.phases = {.warmup = 2, .cooldown = 3, .total = 20},
               .interval = {.first = {3, 2}},
               .merge = {.policy = policy}});
    for (std::int64_t b = 0; b < 20; ++b) {
      daso.zero_grad();
      const auto [x, y] = my_batch(b, 4);
      const auto loss = torch::mse_loss(net->forward(x), y);
      loss.backward();
      daso.step(loss);
      if (b == 9) {
        daso.drain();
        CHECK(model.equal_on_all_ranks());
      }
      if (b == 11) CHECK(model.equal_on_all_ranks() == (ht::world().size() == 1));
    }
    daso.drain();
    CHECK(model.equal_on_all_ranks());
    CHECK(daso.phase() == Phase::cooldown);
  }
}

TEST_CASE("The ranks of a node hold the same bits all the time", "[nn][daso]") {
  for (const auto& topology : topologies()) {
    DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology);
    torch::optim::SGD sgd(model.parameters(), SGDOptions(0.1).momentum(0.9));
    DASO daso(model, sgd, {.interval = {.first = {2, 1}}});
    for (std::int64_t b = 0; b < 9; ++b) {
      daso.zero_grad();
      backward(model, b);
      daso.step(1.0);
      const auto sums = topology.node().allgather(std::int64_t{model.checksum()});
      CHECK(std::set(sums.begin(), sums.end()).size() == 1);
    }
  }
}

TEST_CASE("Events: the age of every merge is the wait", "[nn][daso]") {
  const auto maps = node_maps();
  for (const auto& map : maps) {
    const ht::Topology topology(ht::world(), {.node_of = map});
    DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology);
    torch::optim::SGD sgd(model.parameters(), 0.1);
    DASO daso(model, sgd, {.phases = {.warmup = 1, .cooldown = 1, .total = 10}, .interval = {.first = {4, 2}}});
    for (std::int64_t b = 0; b < 10; ++b) {
      daso.zero_grad();
      backward(model, b);
      daso.step(1.0);
    }
    const Interval every{4, 2};
    std::vector<DasoEvent> expected{{0, Kind::phase, Phase::warmup, every}, {1, Kind::phase, Phase::cycle, every}};
    if (nodes_of(map) > 1) {
      expected.push_back({4, Kind::start, Phase::cycle, every});
      expected.push_back({6, Kind::merge, Phase::cycle, every, 2});
      expected.push_back({8, Kind::drain, Phase::cooldown, every});
    }
    expected.push_back({9, Kind::phase, Phase::cooldown, every});
    CHECK((daso.events() == expected));
    CHECK(daso.counters().starts == (nodes_of(map) > 1));
    CHECK_THAT(to_string(daso), Catch::Contains("cool-down, batch 10") && Catch::Contains("interval 4, wait 2"));
  }
}

TEST_CASE("Merging over the nodes equals the formulas", "[nn][daso]") {
  const auto policy = GENERATE(MergePolicy::daso, MergePolicy::alpha, MergePolicy::delta, MergePolicy::outer);
  const MergeOptions rule{.policy = policy, .alpha = 0.25, .beta = 0.5, .outer_rate = 0.5, .outer_momentum = 0.5};
  for (const auto& map : node_maps()) {
    if (nodes_of(map) == 1) continue;
    const ht::Topology topology(ht::world(), {.node_of = map});
    auto net = std::make_shared<Constant>();
    DataParallelMultiGPU model(net, topology);
    torch::optim::SGD sgd(model.parameters(), 1.0);
    DASO daso(model, sgd, {.interval = {.first = {2, 2}}, .merge = rule});

    const double slope = 1.0 + map(ht::world().rank());
    for (int b = 0; b < 4; ++b) {  // sent after batch 1, merged after batch 3
      daso.zero_grad();
      net->forward(slope).backward();
      daso.step(1.0);
    }

    double mean = 0;
    for (int rank = 0; rank < ht::world().size(); ++rank) mean += -2.0 * (1 + map(rank)) / ht::world().size();
    const double now = -4 * slope, sent = -2 * slope, P = nodes_of(map);
    const double expected = policy == MergePolicy::daso    ? (4 * now + P * mean) / (4 + P)
                            : policy == MergePolicy::alpha ? 0.25 * now + 0.75 * mean
                            : policy == MergePolicy::delta ? now + 0.5 * (mean - sent)
                                                           : now - sent + 0.5 * (mean + 0.5 * mean);
    CHECK(near_to(net->w, torch::full({7}, expected, torch::kDouble), 1e-14, 1e-14));
  }
}

TEST_CASE("Share of the updates that survives merging", "[nn][daso]") {
  const int P = ht::world().size();
  if (P == 1) return;
  const ht::Topology topology(ht::world(), {.node_of = [](int rank) { return rank; }});
  const auto kept = [&](MergePolicy policy) {
    auto net = std::make_shared<Constant>();
    DataParallelMultiGPU model(net, topology);
    torch::optim::SGD sgd(model.parameters(), 1.0);
    DASO daso(model, sgd, {.review_every = 1000000, .merge = {.policy = policy}});
    double before = 0;
    for (int b = 0; b < 41; ++b) {  // a sync is sent at 3, 7, ... and merged at 4, 8, ...: whole cycles from 5 to 40
      daso.zero_grad();
      net->forward(1.0).backward();
      daso.step(1.0);
      if (b == 4) before = net->w[0].item<double>();
    }
    return (before - net->w[0].item<double>()) / 36;
  };

  CHECK(kept(MergePolicy::daso) == Approx((4 - 1 + 2.0 / (2 + P)) / 4).epsilon(1e-12));  // 5/6 for four nodes
  CHECK(kept(MergePolicy::delta) == Approx(1.0).epsilon(1e-12));
}

TEST_CASE("Plateaus of the loss over all ranks shorten the interval", "[nn][daso]") {
  for (const auto& topology : topologies()) {
    DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology);
    torch::optim::SGD sgd(model.parameters(), 0.0);
    DASO daso(model, sgd, {.phases = {.warmup = 2}, .review_every = 2});
    std::vector<std::int64_t> intervals;
    for (std::int64_t b = 0; b < 20; ++b) {
      daso.zero_grad();
      backward(model, b);
      daso.step(ht::world().rank() == 0 ? 1.0 : 3.0);
      intervals.push_back(daso.interval().batches);
    }
    const std::vector<std::int64_t> expected{4, 4, 4, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 8};
    CHECK(intervals == expected);
  }
}

TEST_CASE("A node with a bad gradient stops, and all ranks throw together", "[nn][daso]") {
  const int last = ht::world().size() - 1;
  for (const auto& topology : topologies()) {
    DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology);
    torch::optim::SGD sgd(model.parameters(), 0.1);
    DASO daso(model, sgd, {.interval = {.first = {4, 1}}});
    std::int64_t thrown_at = -1, now = 0;
    model.module().first->bias.register_hook(
        [&](const at::Tensor& g) { return now == 2 && ht::world().rank() == last ? g * std::nan("") : g; });
    std::string message;
    for (std::int64_t b = 0; b < 8 && message.empty(); ++b) {
      daso.zero_grad();
      now = b;
      backward(model, b);
      message = message_of<ht::ValueError>([&] { daso.step(1.0); });
      thrown_at = b;
    }
    CHECK_THAT(message, Catch::Contains("[daso]") && Catch::Contains("first.bias"));
    CHECK(thrown_at == (daso.nodes() == 1 ? 2 : 4));
    CHECK(all_finite(model.module().first->bias));
  }
}

TEST_CASE("A cool-down can be called for", "[nn][daso]") {
  for (const auto& topology : topologies()) {
    DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology);
    torch::optim::SGD sgd(model.parameters(), SGDOptions(0.1).momentum(0.9));
    DASO daso(model, sgd, {.phases = {.cooldown = 2}, .interval = {.first = {2, 1}}});
    for (std::int64_t b = 0; b < 6; ++b) {
      if (b == 4) daso.cool_down();
      daso.zero_grad();
      backward(model, b);
      daso.step(1.0);
    }
    CHECK(daso.phase() == Phase::cooldown);
    CHECK(model.equal_on_all_ranks());
  }
}

TEST_CASE("Rotating carriers bring the same as all together", "[nn][daso]") {
  for (const auto& topology : topologies()) {
    const auto options = SGDOptions(0.1).momentum(0.9);
    const DasoOptions every{.interval = {.first = {2, 1}}};
    auto rotating = every;
    rotating.carriers = Carriers::rotating;

    CHECK(distance(train_daso<torch::optim::SGD>(topology, options, 12, rotating),
                   train_daso<torch::optim::SGD>(topology, options, 12, every)) < 1e-12);
  }
}

TEST_CASE("the published method uses its intervals, and a node takes the weights of its carrier", "[nn][daso]") {
  for (const auto& topology : topologies()) {
    DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology);
    torch::optim::SGD sgd(model.parameters(), SGDOptions(0.01).momentum(0.9));
    DASO daso(model, sgd, DasoOptions::published(5, {.warmup = 10, .cooldown = 5, .total = 90}));
    bool drifted = false;
    for (std::int64_t b = 0; b < 90; ++b) {
      daso.zero_grad();
      backward(model, b);
      daso.step(1.0);
      const auto sums = topology.node().allgather(std::int64_t{model.checksum()});
      const bool alike = std::set(sums.begin(), sums.end()).size() == 1;
      drifted = drifted || !alike;
      if (daso.events().back().batch == b && daso.events().back().kind == Kind::merge) CHECK(alike);
    }
    CHECK(model.equal_on_all_ranks());
    if (daso.nodes() == 1) continue;
    std::vector<Interval> intervals;
    for (const auto& event : daso.events())
      if (event.kind == Kind::interval) intervals.push_back(event.interval);
    // A constant loss is a plateau after three epochs.
    CHECK((intervals == std::vector<Interval>{{2, 1, 1}, {1, 1, 1}, {8, 2, 2}, {4, 1, 1}}));
    CHECK(drifted == (topology.node().size() > 1));
  }
}

TEST_CASE("OUTER without momentum at rate 1 is DELTA", "[nn][daso]") {
  for (const auto& topology : topologies()) {
    const auto options = SGDOptions(0.1).momentum(0.9);
    const DasoOptions delta{.interval = {.first = {3, 2}}};
    auto outer = delta;
    outer.merge = {.policy = MergePolicy::outer, .outer_rate = 1, .outer_momentum = 0};

    CHECK(distance(train_daso<torch::optim::SGD>(topology, options, 15, outer),
                   train_daso<torch::optim::SGD>(topology, options, 15, delta)) < 1e-12);
  }
}

TEST_CASE("A narrower wire loses no small update in the long run", "[nn][daso]") {
  // Every step is 1e-3, far below half of the last bit of 1.0 in either format.
  struct Ones : torch::nn::Module {
    at::Tensor w = register_parameter("w", torch::ones({300}));
    at::Tensor forward() { return w.sum() * 1e-3; }
  };
  const auto wire = GENERATE(ht::Wire::float32, ht::Wire::bfloat16, ht::Wire::int8, ht::Wire::int4, ht::Wire::float4);
  for (const auto& topology : topologies()) {
    auto net = std::make_shared<Ones>();
    DataParallelMultiGPU model(net, topology, {.gradients = {.wire = wire}});
    torch::optim::SGD sgd(model.parameters(), 1.0);
    DASO daso(model, sgd,
              {.phases = {.warmup = 100}, .interval = {.first = {2, 1}}, .review_every = 100000, .wire = wire});
    for (int b = 0; b < 500; ++b) {
      daso.zero_grad();
      net->forward().backward();
      daso.step(1.0);
    }
    CHECK(at::abs(net->w - 0.5).max().item<double>() < 1e-3);
    const auto saved = daso.counters().saved_bytes;
    CHECK((saved > 0) == (daso.nodes() > 1));
  }
}

TEST_CASE("With local skips the ranks drift apart and their mean is kept", "[nn][daso]") {
  for (const auto& map : node_maps()) {
    if (nodes_of(map) == 1) continue;
    const ht::Topology topology(ht::world(), {.node_of = map});
    auto net = std::make_shared<Constant>();
    DataParallelMultiGPU model(net, topology);
    torch::optim::SGD sgd(model.parameters(), 1.0);
    DASO daso(model, sgd, {.interval = {.first = {4, 2, 4}, .local_skips = true}});

    const double slope = 1.0 + ht::world().rank(), mean = (1.0 + ht::world().size()) / 2;
    for (int b = 0; b < 6; ++b) {  // gradients are averaged in batch 3, weights sent after it and merged after batch 5
      daso.zero_grad();
      net->forward(slope).backward();
      daso.step(1.0);
    }

    // The changes up to batch 3 are the mean of all ranks; the two steps since are each rank's own.
    CHECK(near_to(net->w, torch::full({7}, -4 * mean - 2 * slope, torch::kDouble), 1e-14, 1e-14));
  }
}

TEST_CASE("Gradients are clipped after they were averaged", "[nn][daso]") {
  for (const auto& topology : topologies()) {
    auto net = std::make_shared<Constant>();
    DataParallelMultiGPU model(net, topology);
    torch::optim::SGD sgd(model.parameters(), 1.0);
    DASO daso(model, sgd, {.phases = {.warmup = 1}, .max_norm = 0.5});
    daso.zero_grad();
    net->forward(1.0 + ht::world().rank()).backward();
    daso.step(1.0);

    CHECK(net->w.norm().item<double>() == Approx(0.5).epsilon(1e-5));
    CHECK(model.equal_on_all_ranks());
  }
}

TEST_CASE("Options of DASO that differ between ranks are named", "[nn][daso]") {
  if (ht::world().size() == 1) return;
  DataParallelMultiGPU model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  torch::optim::SGD sgd(model.parameters(), 0.1);
  const auto differs = [&](const std::string& text, const DasoOptions& other) {
    const auto options = ht::world().rank() == ht::world().size() - 1 ? other : DasoOptions();
    CHECK_THAT(message_of<ht::ValueError>([&] { DASO(model, sgd, options); }), Catch::Contains("[daso] got " + text));
  };
  differs("merge.policy delta on rank 0 and alpha on rank ", {.merge = {.policy = MergePolicy::alpha}});
  differs("wire float32 on rank 0 and int8 on rank ", {.wire = ht::Wire::int8});
  differs("interval.first.batches 4 on rank 0 and 2 on rank ", {.interval = {.first = {2, 1}}});
  differs("review_every 100 on rank 0 and 7 on rank ", {.review_every = 7});
  differs("tuning none on rank 0 and some", {.tuning = TuningOptions()});
  differs("0 batches of warm-up, 0 of cool-down, a review every 0", {.review_every = 0});
}

TEST_CASE("Bad options and unknown optimizers are refused", "[nn][daso]") {
  const ht::Topology topology(ht::world());
  DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology);
  torch::optim::SGD sgd(model.parameters(), 0.1);
  torch::optim::LBFGS lbfgs(model.parameters());

  CHECK_THROWS_AS(DASO(model, sgd, {.interval = {.first = {0, 0}}}), ht::ValueError);
  CHECK_THROWS_AS(DASO(model, sgd, {.interval = {.first = {2, 3}}}), ht::ValueError);
  CHECK_THROWS_AS(DASO(model, sgd, {.review_every = 0}), ht::ValueError);
  CHECK_THROWS_AS(DASO(model, sgd, {.merge = {.beta = 2}}), ht::ValueError);
  CHECK_THROWS_AS(DASO(model, sgd, {.interval = {.first = {4, 1, 2}}}), ht::ValueError);
  CHECK_THROWS_AS(DASO(model, sgd, {.max_norm = -1.0}), ht::ValueError);
  CHECK_THROWS_AS(DASO(model, sgd, {.carriers = Carriers::rotating, .wire = ht::Wire::int8}), ht::ValueError);
  CHECK_THROWS_AS(DASO(model, lbfgs), ht::TypeError);
}
