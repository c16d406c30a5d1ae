#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp_nn/parallel/mixed_precision.hpp>
#include <heatpp_nn/parallel/sync_batch_norm.hpp>
#include <heatpp_nn/training/trainer.hpp>

// float16: batches that overflow are skipped, as torch.amp.GradScaler does in one process with the rows of all ranks.

using namespace heatpp::nn;

namespace {

struct SmallFloatNet : SmallNet {
  SmallFloatNet() : SmallNet(torch::kFloat) {}
};

constexpr int steps = 30;
using Counts = std::vector<std::int64_t>;

/// Two linear layers with a norm between them.
template <class Norm>
struct Normed : torch::nn::Module {
  torch::nn::Linear first{nullptr}, second{nullptr};
  Norm norm{nullptr};
  Normed() {
    torch::manual_seed(7);
    first = register_module("first", torch::nn::Linear(5, 8));
    norm = register_module("norm", Norm(8));
    second = register_module("second", torch::nn::Linear(8, 3));
  }
  at::Tensor forward(const at::Tensor& x) { return second(torch::tanh(norm(first(x)))); }
};

/// Returns distributions of the rows: equal, one row on rank 0, all on the last rank. The total is that of one process.
std::vector<Counts> row_counts(std::int64_t rows) {
  const auto ranks = static_cast<std::size_t>(ht::world().size());
  if (ranks == 1) return {{rows}};
  Counts even(ranks, rows), single(ranks, rows), last(ranks, 0);
  single.front() = 1;
  last.back() = rows;
  return {even, single, last};
}

std::int64_t sum(const Counts& counts) { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); }

at::Tensor mine(const at::Tensor& all, const Counts& counts) {
  const auto rank = ht::world().rank();
  const auto first = std::accumulate(counts.begin(), counts.begin() + rank, std::int64_t{0});
  return all.narrow(0, first, counts[static_cast<std::size_t>(rank)]).contiguous();
}

std::pair<at::Tensor, at::Tensor> precise_rows(std::int64_t count) {
  const auto [x, y] = samples(count, 3);
  return {x.to(torch::kFloat), (y * 4).to(torch::kFloat)};
}

template <class Net>
at::Tensor outputs_of(Net& net, const at::Tensor& x) {
  const Autocast half(ht::float16);
  return net.forward(x);
}
at::Tensor error_between(const at::Tensor& outputs, const at::Tensor& y) {
  return torch::mse_loss(outputs.to(torch::kFloat), y);
}

/// The number of skipped batches of a training, and its weights.
struct PreciseRun {
  int left_out = 0;
  std::vector<at::Tensor> end = {};
};

/// Trains with all rows in one process, as torch.amp.GradScaler does.
template <class Net>
PreciseRun in_one_process(const Counts& counts) {
  Net net;
  torch::optim::SGD sgd(net.parameters(), 0.01);
  const auto [x, y] = precise_rows(sum(counts));
  double scale = 65536;
  PreciseRun run;
  for (int step = 0; step < steps; ++step) {
    sgd.zero_grad();
    (error_between(outputs_of(net, x), y) * scale).backward();
    bool finite = true;
    for (auto& parameter : net.parameters()) {
      finite = finite && parameter.grad().isfinite().all().template item<bool>();
      parameter.mutable_grad().div_(scale);
    }
    if (finite) sgd.step();
    else ++run.left_out, scale /= 2;
  }
  run.end = weights(net);
  return run;
}

/// Trains with a loop without Trainer; `told`: ranks pass the number of rows of all ranks.
template <class Net>
PreciseRun by_ranks(const Counts& counts, bool told) {
  const ht::Topology topology(ht::world());
  DataParallel model(std::make_shared<Net>(), topology);
  const bool norms = synchronise_norms(model.module(), topology) > 0;
  torch::optim::SGD sgd(model.parameters(), 0.01);
  const auto [all, wanted] = precise_rows(sum(counts));
  const auto x = mine(all, counts), y = mine(wanted, counts);
  const auto rows = static_cast<double>(x.size(0));
  GradScaler scaler;
  PreciseRun run;
  for (int step = 0; step < steps; ++step) {
    sgd.zero_grad();
    at::Tensor loss;
    if (rows > 0 || norms) {
      const auto outputs = outputs_of(model.module(), x);
      loss = scaler.scale(rows > 0 ? error_between(outputs, y) : outputs.to(torch::kFloat).sum());
    }
    if (told) model.backward(loss, rows, static_cast<double>(sum(counts)));
    else model.backward(loss, rows);
    if (scaler.finish(model)) model.update(sgd);
    else ++run.left_out;
  }
  CHECK(model.equal_on_all_ranks());
  run.end = weights(model.module());
  return run;
}

/// An SGD that counts its steps.
struct CountedSgd : torch::optim::SGD {
  using SGD::SGD;
  int steps_done = 0;
  at::Tensor step(LossClosure closure) override {
    ++steps_done;
    return SGD::step(std::move(closure));
  }
};

template <class Net>
PreciseRun by_trainer(const Counts& counts, const Loss& loss) {
  const ht::Topology topology(ht::world());
  DataParallel model(std::make_shared<Net>(), topology);
  (void)synchronise_norms(model.module(), topology);
  CountedSgd sgd(model.parameters(), torch::optim::SGDOptions(0.01));
  const auto [x, y] = precise_rows(sum(counts));
  Trainer trainer(model, sgd, loss,
                  {.epochs = steps,
                   .batch_size = sum(counts),
                   .shuffle = Shuffle::none,
                   .autocast = ht::float16,
                   .progress = false});
  trainer.fit({ht::from_local(mine(x, counts), {.split = 0}), ht::from_local(mine(y, counts), {.split = 0})});
  return {steps - sgd.steps_done, weights(model.module())};
}

void check(const PreciseRun& ours, const PreciseRun& alone) {
  CHECK(alone.left_out > 0);
  CHECK(ours.left_out <= alone.left_out);
  CHECK(distance(ours.end, alone.end) < 0.05);
}

}  // namespace

TEST_CASE("float16 skips no more batches than one process, for any distribution of rows", "[nn][precision]") {
  for (const std::int64_t rows : {8, 64, 512, 4096}) {
    const auto counts = row_counts(rows);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      INFO(rows << " rows, way " << i << " to share them");
      const auto plain = in_one_process<SmallFloatNet>(counts[i]);
      const auto normed = in_one_process<Normed<torch::nn::BatchNorm1d>>(counts[i]);
      if (i == 0) check(by_ranks<SmallFloatNet>(counts[i], false), plain);  // a rank assumes equal numbers of rows
      check(by_ranks<SmallFloatNet>(counts[i], true), plain);
      for (const bool told : {false, true}) check(by_ranks<Normed<SyncBatchNorm>>(counts[i], told), normed);
    }
  }
}

TEST_CASE("A trainer in float16 leaves out no more batches than in one process", "[nn][trainer][precision]") {
  const Loss by_weight = [](const at::Tensor& outputs, const at::Tensor& y) {
    return std::pair(error_between(outputs, y), torch::full({}, 1000.0 * static_cast<double>(y.size(0))));
  };
  for (const std::int64_t rows : {8, 512})
    for (const auto& counts : row_counts(rows)) {
      const auto plain = in_one_process<SmallFloatNet>(counts);
      const auto normed = in_one_process<Normed<torch::nn::BatchNorm1d>>(counts);
      for (const auto& loss : {Loss(error), by_weight}) {
        check(by_trainer<SmallFloatNet>(counts, loss), plain);
        check(by_trainer<Normed<SyncBatchNorm>>(counts, loss), normed);
      }
    }
}
