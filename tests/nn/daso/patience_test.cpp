#include "../scratch_file.hpp"
#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp_nn/parallel/detail/ballot.hpp>
#include <heatpp_nn/training/checkpoint.hpp>
#include <heatpp_nn/training/trainer.hpp>

#include <utility>

using namespace heatpp::nn;
using heatpp::nn::detail::quorum_of;
using heatpp::nn::detail::Verdict;
using heatpp::nn::detail::verdict;
using heatpp::nn::detail::weight_of_late;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

ht::Topology nodes_of_one_rank() {
  return ht::Topology(ht::world(), {.node_of = [](int rank) { return rank; }});
}

DasoOptions with_patience(double seconds, double quorum = 0.5) {
  return {.interval = {.first = {4, 1}}, .patience = seconds, .quorum = quorum};
}

/// What a training ends with.
struct Run {
  double seconds = 0;    // until all nodes have drained
  double weight = 0;     // of the net
  std::int64_t own = 0;  // batches that this rank has trained
  DASO::Counters counters = {};
};

/// Trains a Constant until DASO counts `batches`. `pace` is how long this rank computes a batch.
Run run(const ht::Topology& topology, const DasoOptions& options, double slope, std::int64_t batches,
        const std::function<milliseconds(std::int64_t batch)>& pace, std::optional<Scope> shard = std::nullopt,
        at::ScalarType dtype = at::kDouble) {
  auto net = std::make_shared<Constant>();
  net->to(dtype);
  DataParallelMultiGPU model(net, topology, {.shard = shard});
  torch::optim::SGD sgd(model.parameters(), 1.0);
  DASO daso(model, sgd, options);
  Run found;
  ht::world().barrier();
  const auto begin = Clock::now();
  for (; daso.batch() < batches; ++found.own) {
    daso.zero_grad();
    net->forward(slope).backward();
    std::this_thread::sleep_for(pace(daso.batch()));
    daso.step(1.0);
  }
  daso.drain();
  found.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  CHECK(model.equal_on_all_ranks());
  CHECK(daso.batch() == batches);
  found.weight = net->w[3].item<double>();
  found.counters = daso.counters();
  return found;
}

double sum_of_ranks(double value) {
  std::array<double, 1> sum{value};
  ht::world().allreduce(sum);
  return sum[0];
}

double largest_of_ranks(double value) {
  std::array<double, 1> largest{value};
  ht::world().allreduce(largest, ht::ReduceOp::max);
  return largest[0];
}

bool is_last() { return ht::world().rank() == ht::world().size() - 1; }

}  // namespace

TEST_CASE("A quorum is a share of the nodes, rounded up", "[nn][daso][patience]") {
  CHECK(quorum_of(0.5, 2) == 1);
  CHECK(quorum_of(0.5, 3) == 2);
  CHECK(quorum_of(0.7, 10) == 7);
  CHECK(quorum_of(0.01, 4) == 1);
  CHECK(quorum_of(1, 192) == 192);
}

TEST_CASE("Nodes start when all have come, or a quorum is impatient", "[nn][daso][patience]") {
  CHECK(verdict({}, 4, 2) == Verdict());
  CHECK(verdict({.came = 4}, 4, 2) == Verdict{.start = true});
  CHECK(verdict({.came = 3, .due = 1, .impatient = 1}, 4, 2) == Verdict());  // no quorum
  CHECK(verdict({.came = 3, .due = 2}, 4, 2) == Verdict{.call = true});
  CHECK(verdict({.came = 3, .due = 2, .impatient = 1}, 4, 2) == Verdict{.start = true, .call = true});
}

TEST_CASE("A quorum that waits at a drain ends the others' batches", "[nn][daso][patience]") {
  CHECK(verdict({.left = 1}, 4, 2) == Verdict{.parting = true});
  CHECK(verdict({.left = 2, .batches = 60}, 4, 2) == Verdict{.parting = true});
  CHECK(verdict({.left = 3, .restless = 1, .batches = 90}, 4, 2) == Verdict{.parting = true, .end = 30});
  const auto all = verdict({.came = 4, .left = 4, .restless = 4, .batches = 120}, 4, 2);
  CHECK(all == Verdict{.parting = true, .stop = true, .end = 30});
}

TEST_CASE("Work counts less the later it is", "[nn][daso][patience]") {
  CHECK(weight_of_late(0) == 1);
  CHECK(weight_of_late(3) == Approx(0.5));
}

TEST_CASE("Nodes with much patience have the mean of all work", "[nn][daso][patience]") {
  for (const auto& map : node_maps()) {
    const ht::Topology topology(ht::world(), {.node_of = map});
    const double slope = 1.0 + map(ht::world().rank());
    for (const auto shard : {std::optional(Scope::node), std::optional<Scope>()})
      for (const double quorum : {0.3, 1.0}) {
        const auto pace = [&](std::int64_t) { return milliseconds(map(ht::world().rank()) == 0 ? 1 : 2); };
        const auto found = run(topology, with_patience(1000, quorum), slope, 14, pace, shard);
        const double work = sum_of_ranks(slope * static_cast<double>(found.own)) / ht::world().size();
        CHECK(found.weight == Approx(-work).epsilon(1e-12));
        CHECK(found.counters.missed == 0);
        CHECK(found.own <= 14);
      }
  }
}

TEST_CASE("Four bits and the outer rule go with a patience", "[nn][daso][patience]") {
  if (ht::world().size() == 1) return;
  const auto topology = nodes_of_one_rank();
  const auto pace = [](std::int64_t) { return milliseconds(1); };
  auto four = with_patience(1000), outer = four;
  four.wire = ht::Wire::int4;
  outer.merge = {.policy = MergePolicy::outer, .outer_rate = 1, .outer_momentum = 0};  // is delta
  for (const auto& options : {four, outer}) {
    const auto found = run(topology, options, 0.1 * (1 + ht::world().rank()), 30, pace, std::nullopt, at::kFloat);
    const double work =
        sum_of_ranks(0.1 * (1 + ht::world().rank()) * static_cast<double>(found.own)) / ht::world().size();
    CHECK(found.weight == Approx(-work).epsilon(1e-2));
  }
}

TEST_CASE("A node that stalls is not waited for, and goes on with the others", "[nn][daso][patience]") {
  if (ht::world().size() == 1) return;
  bool stalled = !is_last();
  const auto pace = [&](std::int64_t batch) {
    return milliseconds(batch >= 5 && !std::exchange(stalled, true) ? 1200 : 5);
  };
  const auto found = run(nodes_of_one_rank(), with_patience(0.02), 1.0, 200, pace);
  if (is_last()) CHECK(found.counters.missed > 0);
  if (is_last()) CHECK(found.own < 190);  // the others have trained more than two intervals meanwhile
  CHECK(found.weight < -100);             // of 200 batches with a step of 1, on all nodes but one
}

TEST_CASE("One node at half speed does not slow the others down", "[nn][daso][patience]") {
  if (ht::world().size() == 1) return;
  const auto topology = nodes_of_one_rank();
  const auto seconds = [&](bool slow, const DasoOptions& options) {
    const auto pace = [&](std::int64_t) { return milliseconds(slow && is_last() ? 20 : 10); };
    return largest_of_ranks(run(topology, options, 1.0, 100, pace).seconds);
  };
  double ratio = 2;
  for (int tries = 0; tries < 3 && ratio > 1.15; ++tries)  // another program may take the cores for a while
    ratio = seconds(true, with_patience(0.005)) / seconds(false, with_patience(0.005));
  CHECK(ratio <= 1.15);
  auto waiting = with_patience(0);
  waiting.patience.reset();
  CHECK(seconds(true, waiting) > 1.5);  // all wait: 100 batches of 20 ms
}

TEST_CASE("The Trainer ends an epoch on all nodes together, and a slow one skips batches", "[nn][daso][patience]") {
  constexpr std::int64_t batches = 20, epochs = 2;
  const auto [x, y] = samples(batches * 8 * ht::world().size());
  const Dataset data(even(x), even(y));
  DataParallelMultiGPU model(std::make_shared<SmallNet>(), nodes_of_one_rank());
  torch::optim::SGD sgd(model.parameters(), 0.1);
  std::int64_t trained = 0;
  const auto loss = [&](const at::Tensor& outputs, const at::Tensor& wanted) {
    if (at::GradMode::is_enabled()) ++trained, std::this_thread::sleep_for(milliseconds(is_last() ? 16 : 4));
    return at::mse_loss(outputs, wanted);
  };
  TrainerOptions options{.epochs = epochs,
                         .batch_size = 8 * ht::world().size(),
                         .daso = with_patience(0.005),
                         .phases = {.warmup = 0.1, .cooldown = 0.1},
                         .progress = false};
  const auto result = Trainer(model, sgd, loss, options).fit(data, data);

  CHECK(result.batches == batches * epochs);
  CHECK(model.equal_on_all_ranks());
  CHECK(result.epochs.back().validation->loss < result.epochs.front().loss);
  if (ht::world().size() > 1 && is_last()) CHECK(trained < batches * epochs);
  options.checkpoint_every = 3;
  CHECK_THAT(message_of<ht::ValueError>([&] { Trainer(model, sgd, loss, options); }), Catch::Contains("patience"));
}

TEST_CASE("A checkpoint between drains keeps weights and the number of batches", "[nn][daso][patience]") {
  const ScratchFile file{scratch_path("patience.ckpt")};
  const auto topology = nodes_of_one_rank();
  const auto train = [](DataParallelMultiGPU<SmallNet>& model, DASO& daso, std::int64_t last) {
    while (daso.batch() < last) {
      daso.zero_grad();
      backward(model, daso.batch());
      daso.step(1.0);
    }
  };
  DataParallelMultiGPU first(std::make_shared<SmallNet>(), topology);
  torch::optim::SGD sgd(first.parameters(), 0.1);
  DASO daso(first, sgd, with_patience(0.01));
  train(first, daso, 10);
  save_checkpoint(file.path, daso);
  const auto saved = weights(first.module());
  const auto batch = daso.batch();

  DataParallelMultiGPU second(std::make_shared<SmallNet>(), topology);
  torch::optim::SGD other(second.parameters(), 0.1);
  DASO resumed(second, other, with_patience(0.01));
  (void)load_checkpoint(file.path, resumed);
  CHECK(equal(weights(second.module()), saved));
  CHECK(resumed.batch() == batch);
  for (auto* const one : {&daso, &resumed}) {
    train(one == &daso ? first : second, *one, 20);
    one->drain();
  }
  CHECK(first.equal_on_all_ranks());
  CHECK(second.equal_on_all_ranks());
}

TEST_CASE("A gradient that is not finite ends nodes with a patience at the next drain", "[nn][daso][patience]") {
  for (const auto& topology : topologies()) {
    auto net = std::make_shared<Constant>();
    DataParallelMultiGPU model(net, topology);
    torch::optim::SGD sgd(model.parameters(), 0.1);
    DASO daso(model, sgd, with_patience(0.01));
    const auto train = [&] {
      for (std::int64_t b = 0; b < 7; ++b) {
        daso.zero_grad();
        net->forward(b == 2 && ht::world().rank() == 0 ? std::nan("") : 1.0).backward();
        daso.step(1.0);
      }
      daso.drain();
    };
    CHECK_THROWS_AS(train(), ht::ValueError);
  }
}

TEST_CASE("A patience or a quorum out of range is an error on all ranks", "[nn][daso][patience]") {
  DataParallelMultiGPU model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  torch::optim::SGD sgd(model.parameters(), 0.1);
  const auto refusal = [&](const DasoOptions& options) {
    return message_of<ht::ValueError>([&] { DASO(model, sgd, options); });
  };
  for (const double quorum : {0.0, -0.5, 1.1, std::nan("")})
    CHECK_THAT(refusal(with_patience(1, quorum)), Catch::Contains("quorum of"));
  for (const double patience : {-1.0, 1e9, std::nan("")})
    CHECK_THAT(refusal(with_patience(patience)), Catch::Contains("patience of"));
  auto half = with_patience(1);
  half.merge.beta = 0.5;
  CHECK_THAT(refusal(half), Catch::Contains("beta 0.5"));
  if (ht::world().size() > 1)
    CHECK_THAT(refusal(is_last() ? with_patience(1) : DasoOptions()), Catch::Contains("patience"));
}
