// Trains the models of the training benchmarks: in turns that `benchmarks/run` asks for, or to an accuracy.
#include "reading.hpp"
#include "trainer.hpp"
#include "../turns.hpp"

#include <heatpp/heatpp.hpp>
#include <heatpp_io/heatpp_io.hpp>
#include <heatpp_nn/logging/loss_plot.hpp>
#include <torch/torch.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

namespace ht = heatpp;
namespace nn = heatpp::nn;
using nlohmann::json;

namespace {

struct Options {
  bench::TrainerOptions trainer;
  nn::PrefetchOptions prefetch;
  std::string task = "turns", data, out, title, x_label, y_label;
  std::int64_t batch = 256, steps = 10, epochs = 20, evaluations = 2;
  double target = 2, cap = 1e9;
  bool published = false, automatic = false;
};

void say(const json& line) {
  if (ht::world().rank() == 0) std::cout << line.dump() << std::endl;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The cost of a step: seconds of the slowest rank, the part of them that waits for other nodes, and CPU seconds of all
/// ranks.
struct Cost {
  double seconds, exposed, cpu;
};

Cost time_steps(bench::Trainer& trainer, const at::Tensor& x, const at::Tensor& y, std::int64_t steps) {
  const auto exposed = [&] { return trainer.daso() ? trainer.daso()->counters().exposed_seconds : 0.0; };
  for (int i = 0; i < 2; ++i) trainer.step(x, y);
  ht::world().barrier();
  const auto begin = now(), before = exposed();
  const auto cpu = std::clock();
  for (std::int64_t i = 0; i < steps; ++i) trainer.step(x, y);
  const auto n = static_cast<double>(steps);
  std::array<double, 2> slowest{(now() - begin) / n, (exposed() - before) / n};
  std::array<double, 1> sum{static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC / n};
  ht::world().allreduce(slowest, ht::ReduceOp::max);
  ht::world().allreduce(sum);
  return {slowest[0], slowest[1], sum[0]};
}

int take_turns(const Options& options) {
  const ht::Topology topology(ht::world());
  bench::Trainer trainer(topology, options.trainer);
  auto generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(ht::world().rank()) + 1);
  const auto x = torch::randn({options.batch, 1, 28, 28}, generator);
  const auto y = torch::randint(10, {options.batch}, generator, torch::kLong);
  say({{"warm_up", time_steps(trainer, x, y, options.steps).seconds}});
  while (bench::another_turn()) {
    const auto cost = time_steps(trainer, x, y, options.steps);
    json line{{"seconds", cost.seconds}, {"exposed", cost.exposed}, {"cpu", cost.cpu}};
    if (trainer.daso()) line["daso"] = to_string(*trainer.daso());
    say(line);
  }
  return 0;
}

/// Saves a checkpoint in each turn, after a check that a file gives back the weights.
int save_in_turns(const Options& options) {
  const ht::Topology topology(ht::world());
  bench::Trainer trainer(topology, options.trainer);
  const auto x = torch::ones({options.batch, 1, 28, 28}), y = torch::zeros({options.batch}, torch::kLong);
  trainer.step(x, y);
  const auto time_save = [&] {
    ht::world().barrier();
    const auto begin = now();
    trainer.save(options.out);
    std::array<double, 1> slowest{now() - begin};
    ht::world().allreduce(slowest, ht::ReduceOp::max);
    return slowest[0];
  };
  const auto first = time_save();
  const auto weights = trainer.parameters()[0].clone();
  trainer.step(x, y);
  trainer.load(options.out);
  if (!torch::equal(weights, trainer.parameters()[0]))
    throw ht::ValueError("[checkpoint] got other weights from the file; expected those that were saved");
  say({{"warm_up", first}});
  while (bench::another_turn()) say({{"seconds", time_save()}});
  return 0;
}

struct Images {
  at::Tensor pixels, labels;
};

Images load(const std::string& folder, const std::string& part, std::optional<int> split) {
  const auto path = folder + "/" + part + "-*.h5";
  const auto images = ht::io::load_hdf5(path, "images", {.split = split});
  const auto labels = ht::io::load_hdf5(path, "labels", {.split = split});
  const auto pixels = images.larray().to(torch::kFloat).div_(255).sub_(0.2860).div_(0.3530);
  return {pixels.unsqueeze(1), labels.larray().to(torch::kLong)};
}

/// A training whose clock stops during evaluation.
class Race {
 public:
  explicit Race(const Options& options)
      : options_(options),
        train_(load(options.data, "train", std::nullopt)),
        test_(load(options.data, "test", 0)),
        all_(options.batch * ht::world().size()),
        steps_(train_.labels.size(0) / all_),
        topology_(ht::world()) {
    bench::Trainer(topology_, options_.trainer)
        .step(rows(torch::arange(options.batch)), labels(torch::arange(options.batch)));
    trainer_ = std::make_unique<bench::Trainer>(topology_, options_.trainer);
  }

  void run() {
    for (std::int64_t epoch = 0; epoch < options_.epochs && !ended_; ++epoch) run_epoch(epoch);
    clocked([&] { trainer_->finish(); });
    const auto accuracy = trainer_->accuracy(test_.pixels, test_.labels);
    json line{{"seconds", seconds_}, {"accuracy", accuracy}, {"steps", done_}, {"curve", curve_}, {"losses", losses_}};
    if (trainer_->daso()) {
      const auto exposed = trainer_->daso()->counters().exposed_seconds;
      line["exposed"] = exposed;
      line["exposed_least"] = exposed_least(exposed);
      line["daso"] = to_string(*trainer_->daso());
    }
    line["between_nodes"] = sent_between_nodes();
    line["sent"] = sent_;
    line["images"] = done_ * all_;
    if (options_.trainer.model == "quadratic") line["kept"] = kept();
    say(line);
  }

 private:
  [[nodiscard]] at::Tensor rows(const at::Tensor& positions) const { return train_.pixels.index_select(0, positions); }
  [[nodiscard]] at::Tensor labels(const at::Tensor& positions) const {
    return train_.labels.index_select(0, positions);
  }

  /// Returns how far the steps got in the quadratic model, relative to one node: w shrinks by the rate in each.
  [[nodiscard]] double kept() const {
    const auto w = trainer_->parameters()[0].mean().item<double>();
    return std::log(w) / static_cast<double>(done_) / std::log1p(-options_.trainer.learning_rate);
  }

  /// Returns the time that the network adds; the last rank does not wait for another node's start.
  [[nodiscard]] static double exposed_least(double seconds) {
    std::array<double, 1> least{seconds};
    ht::world().allreduce(least, ht::ReduceOp::min);
    return least[0];
  }

  /// Returns the bytes that all ranks sent together, including evaluations.
  [[nodiscard]] double sent_between_nodes() const {
    // DASO's weights travel on a communicator with one rank of each node.
    const ht::Topology across(topology_.across(), {.node_of = [](int rank) { return rank; }});
    std::array<double, 1> bytes{0};
    for (const auto* topology : {&topology_, &across}) {
      const auto traffic = topology->traffic();
      for (std::size_t level = 1; level < traffic.size(); ++level)
        bytes[0] += static_cast<double>(traffic[level].bytes);
    }
    ht::world().allreduce(bytes);
    return bytes[0];
  }

  template <class F>
  void clocked(F work) {
    const auto before = sent_between_nodes();
    ht::world().barrier();
    const auto begin = now();
    work();
    ht::world().barrier();
    std::array<double, 1> passed{now() - begin};
    ht::world().broadcast(passed, 0);
    seconds_ += passed[0];
    sent_ += sent_between_nodes() - before;
  }

  void run_epoch(std::int64_t epoch) {
    auto generator = at::detail::createCPUGenerator(1000 * options_.trainer.seed + static_cast<std::uint64_t>(epoch));
    const auto order = torch::randperm(train_.labels.size(0), generator, torch::kLong);
    for (std::int64_t k = 0; k < options_.evaluations && !ended_; ++k) {
      const auto first = steps_ * k / options_.evaluations, last = steps_ * (k + 1) / options_.evaluations;
      clocked([&] { train(order, first, last); });
      const auto accuracy = trainer_->accuracy(test_.pixels, test_.labels);
      curve_.push_back({static_cast<double>(done_) / static_cast<double>(steps_), seconds_, accuracy, sent_});
      ended_ = accuracy >= options_.target || seconds_ > options_.cap;
    }
  }

  void train(const at::Tensor& order, std::int64_t first, std::int64_t last) {
    auto* const daso = trainer_->daso();
    const bool skips = daso && daso->patience();
    const auto end = done_ + last - first;
    for (auto step = first; step < last; step = last - (end - done_)) {
      const auto mine = order.narrow(0, step * all_ + options_.batch * ht::world().rank(), options_.batch);
      losses_.push_back(trainer_->step(rows(mine), labels(mine)));
      done_ = skips ? daso->batch() : done_ + 1;
    }
    if (skips) daso->drain();  // calls late nodes
    done_ = end;
  }

  Options options_;
  Images train_, test_;
  std::int64_t all_, steps_;
  ht::Topology topology_;
  std::unique_ptr<bench::Trainer> trainer_;
  std::vector<std::array<double, 4>> curve_;  // epochs, seconds, accuracy, bytes between nodes
  std::vector<double> losses_;
  std::int64_t done_ = 0;
  double seconds_ = 0, sent_ = 0;  // while the clock ran
  bool ended_ = false;
};

/// Draws curves from JSON lines on standard input: {"label", "x", "y"}.
int draw(const Options& options) {
  nn::LossPlot plot({.title = options.title, .x_label = options.x_label, .y_label = options.y_label});
  for (std::string line; std::getline(std::cin, line);) {
    const auto curve = json::parse(line);
    plot.add_curve(curve["label"], curve["x"], curve["y"]);
  }
  plot.save(ht::world(), options.out);
  return 0;
}

const std::map<std::string, nn::MergePolicy> policies{{"daso", nn::MergePolicy::daso},
                                                      {"alpha", nn::MergePolicy::alpha},
                                                      {"delta", nn::MergePolicy::delta},
                                                      {"outer", nn::MergePolicy::outer}};
const std::map<std::string, ht::Wire> wires{{"float32", ht::Wire::float32},
                                            {"bfloat16", ht::Wire::bfloat16},
                                            {"int8", ht::Wire::int8},
                                            {"int4", ht::Wire::int4},
                                            {"float4", ht::Wire::float4}};

const std::map<std::string, nn::Partners> partners{{"all", nn::Partners::all}, {"pairs", nn::Partners::pairs}};

void add_options(CLI::App& app, Options& o) {
  auto& daso = o.trainer.daso;
  app.add_option("task", o.task, "turns, save, race, read or draw")
      ->check(CLI::IsMember({"turns", "save", "race", "read", "draw"}));
  app.add_option("--out", o.out, "picture or checkpoint");
  app.add_option("--title", o.title);
  app.add_option("--x-label", o.x_label);
  app.add_option("--y-label", o.y_label);
  app.add_option("--model", o.trainer.model)->check(CLI::IsMember({"mlp", "wide", "cnn", "transformer", "quadratic"}));
  app.add_option("--mode", o.trainer.mode)
      ->check(CLI::IsMember({"none", "waiting", "data_parallel", "sharded", "daso"}));
  app.add_option("--batch", o.batch, "rows of each rank");
  app.add_option("--steps", o.steps, "of a turn");
  app.add_option("--data", o.data, "folder of Fashion-MNIST's shards, or the files to read");
  app.add_option("--epochs", o.epochs);
  app.add_option("--evaluations", o.evaluations, "of an epoch");
  app.add_option("--target", o.target, "accuracy at which to stop");
  app.add_option("--cap", o.cap, "seconds after which to stop");
  app.add_option("--seed", o.trainer.seed);
  app.add_option("--learning-rate", o.trainer.learning_rate);
  app.add_option("--momentum", o.trainer.momentum);
  app.add_option("--wire", o.trainer.wire, "of gradients")->transform(CLI::CheckedTransformer(wires));
  app.add_option("--weights-wire", daso.wire)->transform(CLI::CheckedTransformer(wires));
  app.add_option("--merge", daso.merge.policy)->transform(CLI::CheckedTransformer(policies));
  app.add_option("--outer-rate", daso.merge.outer_rate);
  app.add_option("--outer-momentum", daso.merge.outer_momentum);
  app.add_option("--interval", daso.interval.first.batches);
  app.add_option("--wait", daso.interval.first.wait);
  app.add_option("--fragments", daso.fragments);
  app.add_option("--patience", daso.patience, "seconds");
  app.add_option("--slow-node", o.trainer.slow_node, "each of its steps sleeps as long as it computed");
  app.add_option("--partners", daso.partners)->transform(CLI::CheckedTransformer(partners));
  app.add_option("--review", daso.review_every);
  app.add_flag("--measured", daso.interval.measured);
  app.add_flag("--automatic", o.automatic, "DASO that tunes itself, after --warm-up");
  app.add_flag("--published", o.published, "DASO as published, with --review batches in an epoch, and --warm-up");
  app.add_option("--readers", o.prefetch.readers, "threads");
  app.add_option("--workers", o.prefetch.workers, "threads");
  app.add_option("--warm-up", daso.phases.warmup, "batches");
}

}  // namespace

int main(int argc, char** argv) {
  const ht::Environment env(argc, argv);
  CLI::App app("Training benchmarks");
  Options options;
  add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  auto& daso = options.trainer.daso;
  const auto fragments = daso.fragments;
  if (options.automatic) daso = nn::DasoOptions::automatic(daso.phases);
  if (options.published) daso = nn::DasoOptions::published(daso.review_every, daso.phases);
  daso.fragments = fragments;
  if (options.task == "turns") return take_turns(options);
  if (options.task == "save") return save_in_turns(options);
  if (options.task == "read")
    return bench::read_in_turns({.files = options.data, .batch = options.batch, .prefetch = options.prefetch});
  if (options.task == "draw") return draw(options);
  Race(options).run();
  return 0;
}
