#include "../scratch_file.hpp"
#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp_nn/training/checkpoint.hpp>

using namespace heatpp::nn;

namespace {

/// Returns the tuning after many synchronisations with these costs, from the usual start.
Tuning settled(const std::function<SyncCosts(const Tuning&)>& costs, const TuningOptions& options = {}) {
  Tuning tuning;
  for (int i = 0; i < 40; ++i) tuning = tuned(tuning, costs(tuning), options);
  return tuning;
}

/// A network that takes `float32` batches of 0.1 s for float32. Nodes that start together wait for the rest of it.
std::function<SyncCosts(const Tuning&)> network(double float32, double drift) {
  return [=](const Tuning& now) -> SyncCosts {
    const auto transfer = 0.1 * float32 * static_cast<double>(wire_bits(now.wire)) / 32;
    const auto waited = std::max(0.0, transfer - 0.1 * static_cast<double>(now.interval.wait));
    return {.transfer = transfer, .batch = 0.1, .waited = waited, .drift = drift};
  };
}

/// A training in float32 by a DASO that tunes itself; batches take a different time on each rank.
struct Tuned {
  Tuned(const ht::Topology& topology, const TuningOptions& options, std::optional<Scope> shard = std::nullopt)
      : model(std::make_shared<SmallNet>(at::kFloat), topology, {.shard = shard}),
        sgd(model.parameters(), torch::optim::SGDOptions(0.1).momentum(0.9)),
        daso(model, sgd, with(options)) {}

  static DasoOptions with(const TuningOptions& options) {
    auto daso = DasoOptions::automatic({.warmup = 2});
    daso.tuning = options;
    return daso;
  }
  void train(std::int64_t first, std::int64_t last) {
    for (auto b = first; b < last; ++b) {
      daso.zero_grad();
      const auto [x, y] = my_batch(b, 4);
      torch::mse_loss(model(x.to(at::kFloat)), y.to(at::kFloat)).backward();
      std::this_thread::sleep_for(std::chrono::microseconds(500 * (1 + ht::world().rank())));
      daso.step(1.0);
      const auto now = daso.tuning();
      for (const auto number : {now.interval.batches, now.interval.wait, static_cast<std::int64_t>(now.wire),
                                static_cast<std::int64_t>(now.policy)}) {
        const auto all = ht::world().allgather(std::int64_t{number});
        agreed = agreed && std::set(all.begin(), all.end()).size() == 1;
      }
    }
  }

  DataParallelMultiGPU<SmallNet> model;
  torch::optim::SGD sgd;
  DASO daso;
  bool agreed = true;
};

}  // namespace

TEST_CASE("A free network is used as often as allowed, in float32", "[nn][tuning]") {
  const auto each = settled(network(0.01, 0.01), {.shortest = 1}), few = settled(network(0.01, 0.01));

  CHECK(each.interval == Interval{1, 1});
  CHECK(each.wire == ht::Wire::float32);
  CHECK(each.policy == MergePolicy::delta);
  CHECK(few.interval == Interval{4, 1});
  CHECK(few.policy == MergePolicy::outer);
}

TEST_CASE("The wire is the widest that arrives within a batch", "[nn][tuning]") {
  CHECK(settled(network(0.4, 0.01)).wire == ht::Wire::float32);
  CHECK(settled(network(0.8, 0.01)).wire == ht::Wire::bfloat16);
  CHECK(settled(network(3, 0.01)).wire == ht::Wire::int8);
  // The current wire stays until it takes longer than a batch.
  const Tuning now{.wire = ht::Wire::float32};
  CHECK(tuned(now, network(0.8, 0.01)(now), {}).wire == ht::Wire::float32);
  CHECK(tuned(now, network(1.2, 0.01)(now), {}).wire == ht::Wire::int8);
}

TEST_CASE("a slow network makes intervals longer, and then waits longer", "[nn][tuning]") {
  const auto late = settled(network(5.7, 0.01)), slow = settled(network(20, 0.01)), slower = settled(network(60, 0.01)),
             endless = settled(network(1e9, 1e-6));

  CHECK(late.interval == Interval{9, 1});  // 0.425 batches are exposed, a twentieth of 8.5
  CHECK(slow.interval == Interval{32, 1});
  CHECK(slower.interval == Interval{32, 7});  // 8 of 15 batches are a quarter of the longest interval
  CHECK(endless.interval == Interval{32, 32});
  for (const auto& found : {late, slow, slower, endless}) CHECK(found.wire == ht::Wire::int8);
  CHECK(slower.policy == MergePolicy::outer);
  CHECK(endless.policy == MergePolicy::delta);
}

TEST_CASE("fragments overlap more of a slow transfer, with results of the same age", "[nn][tuning][fragments]") {
  const auto settled_in_quarters = [](double float32) {
    Tuning tuning{.fragments = 4};
    for (int i = 0; i < 40; ++i) tuning = tuned(tuning, network(float32 / 4, 0.01)(tuning), {});
    return tuning.interval;
  };
  CHECK(settled_in_quarters(5.7) == Interval{4, 1});  // nothing is exposed; 9 batches in one piece
  CHECK(settled_in_quarters(20) == Interval{20, 1});  // a quarter of a batch is exposed four times; 32 in one piece
  CHECK(settled_in_quarters(60) == Interval{32, 2});  // with a wait of 7 in one piece
  CHECK(settled_in_quarters(1e9) == Interval{128, 32});
}

TEST_CASE("A DASO that tunes itself uses four bits and fragments where the network is slow",
          "[nn][tuning][fragments]") {
  const auto options = *DasoOptions::automatic().tuning;
  const auto found = [&](double float32) {
    return settled(
        [=](const Tuning& now) {
          const auto parts = static_cast<double>(now.fragments);
          return network(float32 / parts, 0.01)(now);
        },
        options);
  };
  const auto near = found(0.4), far = found(3), farther = found(6), slow = found(20), slower = found(60);

  CHECK((near.wire == ht::Wire::float32 && near.fragments == 1));
  CHECK((far.wire == ht::Wire::int8 && far.fragments == 1));          // 0.75 of a batch
  CHECK((farther.wire == ht::Wire::int4 && farther.fragments == 1));  // 0.75 of a batch
  CHECK((slow.wire == ht::Wire::int4 && slow.fragments == 4));        // 2.5 batches, of which a fragment takes 0.63
  CHECK(near.interval == Interval{4, 1});
  CHECK(farther.interval == Interval{4, 1});
  CHECK(slow.interval == Interval{4, 1});     // 32 in int8 and one piece
  CHECK(slower.interval == Interval{32, 1});  // with a wait of 7 there
}

TEST_CASE("Fragments stay until all weights take half a batch", "[nn][tuning][fragments]") {
  const TuningOptions options{.narrowest = ht::Wire::int4, .fragments = 4};
  const auto after = [&](std::int64_t fragments, double batches) {  // that a synchronisation takes
    const Tuning now{.wire = ht::Wire::int4, .fragments = fragments};
    return tuned(now, {.transfer = 0.1 * batches, .batch = 0.1}, options);
  };
  CHECK(after(1, 0.9).fragments == 1);
  CHECK(after(1, 1.1).fragments == 4);
  CHECK(after(4, 0.2).fragments == 4);  // all take 0.8
  CHECK(after(4, 0.1).fragments == 1);
  CHECK(after(1, 1.1).costs.transfer == Approx(0.11 / 4));
  CHECK(after(4, 0.1).costs.transfer == Approx(0.04));
}

TEST_CASE("nodes with different weights synchronise more often, at any cost", "[nn][tuning]") {
  const auto waiting = [](double drift) {
    return
        [=](const Tuning&) -> SyncCosts { return {.transfer = 0.198, .batch = 0.1, .waited = 0.098, .drift = drift}; };
  };
  CHECK(settled(waiting(0.001)).interval == Interval{20, 1});
  CHECK(settled(waiting(0.2)).interval == Interval{4, 1});
  // In proportion, but at most half or twice per step.
  const Tuning now{.interval = {16, 1}};
  const TuningOptions options{.drift = 0.05};
  CHECK(tuned(now, waiting(0.075)(now), options).interval == Interval{10, 1});
  CHECK(tuned(now, waiting(10)(now), options).interval == Interval{8, 1});
  CHECK(tuned({}, waiting(0.001)({}), options).interval == Interval{8, 1});
  // The network needs no longer one.
  CHECK(settled(network(0.4, 1e-6)).interval == Interval{4, 1});
}

TEST_CASE("Waiting for nodes that start late makes no interval longer", "[nn][tuning]") {
  const auto late = [](const Tuning&) -> SyncCosts { return {.transfer = 0.12, .batch = 0.1, .waited = 0.3}; };

  CHECK(settled(late).interval == Interval{4, 1});
}

TEST_CASE("without a measurement the tuning does not change", "[nn][tuning]") {
  const Tuning now{.interval = {7, 2}, .costs = {0.1, 0.2, 0.3, 0.4}};

  CHECK(tuned(now, {}, {}) == now);
}

TEST_CASE("A synchronisation counts half as much as the next", "[nn][tuning]") {
  Tuning now{.wire = ht::Wire::float32};
  for (const double batch : {0.1, 0.3}) now = tuned(now, {0.01, batch, 0.01, 0.01}, {});

  CHECK(now.costs.batch == Approx(0.2));
  CHECK(now.costs.transfer == Approx(0.01));
}

TEST_CASE("all ranks tune in the same way, and end with the same weights", "[nn][tuning]") {
  for (const auto& topology : topologies())
    for (const auto shard : {std::optional<Scope>(), std::optional(Scope::node)}) {
      Tuned run(topology, {.shortest = 1, .longest = 8}, shard);
      run.train(0, 60);
      run.daso.drain();

      CHECK(run.agreed);
      CHECK(run.model.equal_on_all_ranks());
      const auto now = run.daso.tuning();
      CHECK((now.costs.batch > 0) == (run.daso.nodes() > 1));
      CHECK((now.costs.drift > 0) == (run.daso.nodes() > 1));
      CHECK(now.interval.batches <= 8);
    }
}

TEST_CASE("The drift is the distance of the nodes from their mean", "[nn][tuning]") {
  const int P = ht::world().size();
  if (P == 1) return;
  const ht::Topology topology(ht::world(), {.node_of = [](int rank) { return rank; }});
  auto net = std::make_shared<Constant>();
  DataParallelMultiGPU model(net, topology);
  torch::optim::SGD sgd(model.parameters(), 1.0);
  auto options = DasoOptions::automatic();
  options.tuning = {.shortest = 3, .longest = 3};
  DASO daso(model, sgd, options);
  for (int b = 0; daso.counters().merges < 2; ++b) {
    daso.zero_grad();
    net->forward(1.0 + ht::world().rank()).backward();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    daso.step(1.0);
  }

  // Drift of the first synchronisation: until it, a node moved by its slope, 1 to P, times the same number of batches.
  double squares = 0, apart = 0;
  for (int slope = 1; slope <= P; ++slope) {
    squares += slope * slope;
    apart += (slope - (1 + P) / 2.0) * (slope - (1 + P) / 2.0);
  }
  CHECK(daso.tuning().costs.drift == Approx(std::sqrt(apart / squares)));
}

TEST_CASE("Weights travel in fragments or at once, as the tuning says", "[nn][tuning][fragments]") {
  for (const auto& map : node_maps()) {
    const ht::Topology topology(ht::world(), {.node_of = map});
    DataParallelMultiGPU model(std::make_shared<SmallNet>(at::kFloat), topology);
    ht::nn::detail::GlobalAverage global(topology, model.flat(), model.ownership().in_node,
                                         {.merge = {.policy = MergePolicy::delta},
                                          .wire = ht::Wire::float32,
                                          .fragments = 3,
                                          .at_once = true,
                                          .tuned = true});
    const at::NoGradGuard no_grad;
    std::set<std::int64_t> sent;
    for (const bool at_once : {true, false, true}) {
      global.set_way(ht::Wire::float32, MergePolicy::delta, at_once);
      for (const auto& parameter : model.module().parameters())
        at::Tensor(parameter).add_(1.0 + map(ht::world().rank()));
      std::int64_t bytes = 0;
      for (int turn = 0; turn < (at_once ? 1 : 3); ++turn) {
        global.start(false);
        bytes += global.bytes();
        CHECK_FALSE(global.finish(0));
        global.gather();
      }
      sent.insert(bytes);
      CHECK(model.equal_on_all_ranks());
    }
    CHECK(sent.size() == 1);
  }
}

TEST_CASE("a wider wire sends what a narrow wire has not sent yet", "[nn][tuning]") {
  for (const auto& topology : topologies()) {
    DataParallelMultiGPU model(std::make_shared<SmallNet>(at::kFloat), topology);
    ht::nn::detail::GlobalAverage global(
        topology, model.flat(), model.ownership().in_node,
        {.merge = {.policy = MergePolicy::delta}, .wire = ht::Wire::int8, .tuned = true});
    const auto before = weights(model.module());
    const at::NoGradGuard no_grad;
    // One step that int8 resolves, and one that it does not.
    const auto move = [&] {
      auto bias = model.module().first->bias;
      bias[0].add_(1.0);
      bias[1].add_(1e-3);
    };
    for (const auto wire : {ht::Wire::int8, ht::Wire::int8, ht::Wire::int8, ht::Wire::float32}) {
      global.set_way(wire, MergePolicy::delta);
      move();
      global.start(false);
      CHECK_FALSE(global.finish(1));
      model.spread();
    }
    const auto moved = model.module().first->bias - before[1];
    CHECK(moved[0].item<double>() == Approx(4));
    CHECK(moved[1].item<double>() == Approx(4e-3).epsilon(1e-3));
  }
}

TEST_CASE("a resumed training keeps its tuning", "[nn][tuning]") {
  const auto path = scratch_path("nn_tuning_test");
  const ScratchFile scratch{path};
  for (const auto& topology : topologies()) {
    Tuned first(topology, {});
    first.train(0, 31);
    save_checkpoint(path, first.daso);

    Tuned again(topology, {});
    (void)load_checkpoint(path, again.daso);
    CHECK(again.daso.tuning() == first.daso.tuning());
    CHECK(again.model.checksum() == first.model.checksum());
    again.train(31, 60);
    again.daso.drain();
    CHECK(again.agreed);
    CHECK(again.model.equal_on_all_ranks());
  }
}

TEST_CASE("tuning out of range, or with options that exclude it, is refused", "[nn][tuning]") {
  DataParallelMultiGPU model(std::make_shared<SmallNet>(at::kFloat), ht::Topology(ht::world()));
  torch::optim::SGD sgd(model.parameters(), 0.1);
  const auto refused = [&](const std::function<void(DasoOptions&)>& change) {
    auto options = DasoOptions::automatic();
    change(options);
    CHECK_THROWS_AS(DASO(model, sgd, options), ht::ValueError);
  };
  refused([](auto& options) { options.tuning->exposed = 0; });
  refused([](auto& options) { options.tuning->late = -1; });
  refused([](auto& options) { options.tuning->drift = std::nan(""); });
  refused([](auto& options) { options.tuning->shortest = 0; });
  refused([](auto& options) { options.tuning->longest = 3; });
  refused([](auto& options) { options.tuning->fragments = 0; });
  refused([](auto& options) { options.tuning->narrowest = ht::Wire::float32; });
  refused([](auto& options) { options.fragments = 2; });
  refused([](auto& options) { options.interval.local_skips = true; });
  refused([](auto& options) { options.carriers = Carriers::rotating; });
}
