#include "training.hpp"
#include "../scratch_path.hpp"
#include "../support.hpp"

#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>
#include <heatpp_nn/training/checkpoint_manager.hpp>
#include <heatpp_nn/training/safetensors.hpp>
#include <heatpp_nn/training/trainer.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>

using namespace heatpp::nn;

namespace {

constexpr std::int64_t rows = 90;

std::filesystem::path folder() { return scratch_path("nn_trainer_test"); }

/// Removes the folder before a test and after it.
struct Folder {
  Folder() { clear(); }
  ~Folder() { clear(); }
  static void clear() {
    ht::world().barrier();
    if (ht::world().rank() == 0) std::filesystem::remove_all(folder());
    ht::world().barrier();
  }
};

/// Returns rows of a regression with an uneven split: rank 0 has none if there are several ranks.
Dataset regression(std::uint64_t seed) {
  const auto [x, y] = samples(rows, seed);
  const auto ranks = ht::world().size(), rank = ht::world().rank();
  const auto parts = std::max(1, ranks - 1), part = ranks == 1 ? 0 : rank - 1;
  const auto first = part < 0 ? 0 : rows * part / parts, end = part < 0 ? 0 : rows * (part + 1) / parts;
  return {ht::from_local(x.narrow(0, first, end - first).contiguous(), {.split = 0}),
          ht::from_local(y.narrow(0, first, end - first).contiguous(), {.split = 0})};
}

/// A network with its own Adam and a Trainer.
struct TrainerRun {
  explicit TrainerRun(TrainerOptions options, const ht::Topology& topology = ht::Topology(ht::world()))
      : model(std::make_shared<SmallNet>(), topology),
        trainer(
            model, adam,
            [this](const at::Tensor& outputs, const at::Tensor& targets) {
              const bool mine = ht::world().rank() == ht::world().size() - 1;
              if (++calls == raise_at && mine) std::raise(SIGTERM);
              return torch::mse_loss(outputs, targets) * (calls == bad_at && mine ? std::nan("") : 1.0);
            },
            quiet(std::move(options))) {}

  static TrainerOptions quiet(TrainerOptions options) {
    options.progress = false;
    return options;
  }

  std::int64_t calls = 0, raise_at = -1, bad_at = -1;
  DataParallelMultiGPU<SmallNet> model;
  torch::optim::Adam adam{model.parameters(), torch::optim::AdamOptions(0.01)};
  Trainer trainer;
};

TrainerOptions with_daso() {
  return {.epochs = 3,
          .batch_size = 16,
          .daso = DasoOptions{.interval = {.first = {2, 1}}},
          .phases = {.warmup = 0.2, .cooldown = 0.2}};
}

/// A training whose validation losses are given.
struct Told {
  TrainingResult fit(TrainerOptions options, const std::vector<double>& losses) {
    options.folder = folder();
    std::size_t next = 0;
    const auto loss = [&](const at::Tensor& outputs, const at::Tensor& targets) {
      if (outputs.requires_grad()) return torch::mse_loss(outputs, targets);
      return torch::full({}, losses.at(next++), torch::kDouble);
    };
    Trainer trainer(model, sgd, loss, TrainerRun::quiet(std::move(options)));
    return trainer.fit(regression(1), regression(2));
  }
  /// Whether the best weights are the current ones.
  [[nodiscard]] bool is_best() const {
    SmallNet best;
    load_safetensors((folder() / "best.safetensors").string(), best);
    return equal(weights(best), weights(model.module()));
  }

  DataParallel<SmallNet> model{std::make_shared<SmallNet>(), ht::Topology(ht::world())};
  torch::optim::SGD sgd{model.parameters(), 0.01};
};

}  // namespace

TEST_CASE("A trainer trains, evaluates and predicts", "[nn][trainer]") {
  const auto training = regression(1), validation = regression(2);
  for (const auto& topology : topologies())
    for (auto options : {TrainerOptions{.epochs = 12, .batch_size = 16}, with_daso()}) {
      options.epochs = 12;
      options.metrics = {{"largest", [](const at::Tensor& outputs, const at::Tensor& targets) {
                            return (outputs - targets).abs().mean().item<double>();
                          }}};
      TrainerRun run(options, topology);
      const auto before = run.trainer.evaluate(validation);
      const auto result = run.trainer.fit(training, validation);

      CHECK(result.ended == Ended::complete);
      CHECK(result.epochs.size() == 12);
      CHECK(result.epochs.back().loss < 0.5 * result.epochs.front().loss);
      CHECK(result.epochs.back().validation->loss < 0.5 * before.loss);
      CHECK(result.epochs.back().validation->metrics.at("largest") > 0);
      CHECK(before.rows == rows);
      CHECK(run.model.equal_on_all_ranks());
      CHECK((run.trainer.daso() != nullptr) == options.daso.has_value());

      const auto outputs = run.trainer.predict(validation.inputs());
      CHECK(outputs.shape() == ht::Shape{rows, 3});
      CHECK(outputs.larray().size(0) == validation.inputs().larray().size(0));
      const at::NoGradGuard no_grad;
      CHECK(equals(outputs.larray(), run.model(validation.inputs().larray())));
    }
}

TEST_CASE("a trainer gives the same weights as a user's own loop", "[nn][trainer]") {
  const auto training = regression(1);
  TrainerRun run({.epochs = 2, .batch_size = 16, .rate = [](const TrainingLength& length) {
                    return cosine_rate({.rate = 0.02, .length = length.total});
                  }});
  run.trainer.fit(training);

  DataParallel model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  torch::optim::Adam adam(model.parameters(), torch::optim::AdamOptions(0.01));
  DataLoader loader(training, {.batch_size = std::max(1, 16 / ht::world().size()), .remainder = Remainder::join});
  const auto rate = cosine_rate({.rate = 0.02, .length = 2 * loader.batches()});
  std::int64_t batch = 0;
  for (std::int64_t epoch = 0; epoch < 2; ++epoch)
    for (const auto& [x, y] : loader.epoch(epoch)) {
      set_learning_rate(adam, rate(batch++));
      adam.zero_grad();
      const auto count = static_cast<double>(x.size(0));
      model.backward(count > 0 ? torch::mse_loss(model(x), y) : at::Tensor(), count);
      model.average_gradients();
      adam.step();
    }
  CHECK(equal(weights(run.model.module()), weights(model.module())));
}

TEST_CASE("a training that a signal has stopped continues to the same bits", "[nn][trainer]") {
  const auto training = regression(1), validation = regression(2);
  for (auto options : {TrainerOptions{.epochs = 3, .batch_size = 16, .ema = 0.9}, with_daso()}) {
    const Folder cleanup;
    const ht::Topology topology(ht::world(), {.node_of = [](int rank) { return rank / 2; }});
    TrainerRun whole(options, topology);
    const auto expected = whole.trainer.fit(training, validation);

    options.folder = folder();
    options.resume = true;
    TrainerRun first(options, topology);
    first.raise_at = 5;
    const auto stopped = first.trainer.fit(training, validation);
    TrainerRun second(options, topology);
    const auto result = second.trainer.fit(training, validation);

    CHECK(stopped.ended == Ended::signal);
    CHECK(stopped.batches < expected.batches);
    CHECK(result.ended == Ended::complete);
    CHECK(result.batches == expected.batches);
    CHECK(second.model.checksum() == whole.model.checksum());
    CHECK(result.epochs.back().loss == Approx(expected.epochs.back().loss).epsilon(1e-12));
    CHECK(result.epochs.back().validation->loss == Approx(expected.epochs.back().validation->loss).epsilon(1e-12));
    CHECK(stopped.epochs.size() + result.epochs.size() == 3);
    const ht::nn::CheckpointManager checkpoints(folder(), ht::world());
    CHECK(checkpoints.numbers().back() == result.batches);
    for (const auto* name : {"best.safetensors", "log.csv", "loss.svg"})
      CHECK(std::filesystem::exists(folder() / name));
    std::ifstream log(folder() / "log.csv");
    std::string line;
    int lines = 0;
    while (std::getline(log, line)) ++lines;
    CHECK(lines == 4);
  }
}

TEST_CASE("A signal ends a training of short epochs, too", "[nn][trainer]") {
  const auto training = regression(1);
  for (const bool daso : {false, true})
    for (const std::int64_t batches : {1, 2, 4}) {
      TrainerOptions options{.epochs = 40, .batch_size = rows / batches};
      if (daso) options.daso = DasoOptions{.phases = {.warmup = 1, .cooldown = 1, .total = 40 * batches}};
      TrainerRun run(options, ht::Topology(ht::world(), {.node_of = [](int rank) { return rank; }}));
      run.raise_at = 3;
      const auto result = run.trainer.fit(training);
      INFO("epochs of " << batches << " batches, DASO " << daso);
      CHECK(result.ended == Ended::signal);
      CHECK(result.batches < 20);
    }
}

TEST_CASE("Rates that are no numbers, and optimizers that no checkpoint knows, are refused at once", "[nn][trainer]") {
  struct Unknown : torch::optim::Optimizer {
    using torch::optim::Optimizer::Optimizer;
    explicit Unknown(std::vector<at::Tensor> parameters)
        : torch::optim::Optimizer(std::move(parameters), std::make_unique<torch::optim::SGDOptions>(0.1)) {}
    at::Tensor step(LossClosure /*closure*/ = nullptr) override { return {}; }
  };
  const Folder cleanup;
  DataParallel model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  const auto loss = [](const at::Tensor& y, const at::Tensor& wanted) { return torch::mse_loss(y, wanted); };
  const auto before = model.checksum();

  torch::optim::SGD sgd(model.parameters(), 0.1);
  const auto no_rate = [](const TrainingLength&) { return [](std::int64_t) { return std::nan(""); }; };
  Trainer rated(model, sgd, loss, TrainerRun::quiet({.rate = no_rate}));
  CHECK_THROWS_WITH(rated.fit(regression(1)), Catch::Contains("got the rate nan for batch 0"));
  Unknown unknown(model.parameters());
  Trainer saved(model, unknown, loss, TrainerRun::quiet({.folder = folder()}));
  CHECK_THROWS_WITH(saved.fit(regression(1)), Catch::Contains("[optimizer] got one of an unknown class"));
  CHECK(model.checksum() == before);
}

TEST_CASE("a trainer stops if validation does not improve, and keeps the best weights", "[nn][trainer]") {
  const Folder cleanup;
  const auto training = regression(1);
  TrainerRun run({.epochs = 50,
                  .batch_size = 16,
                  .rate = [](const TrainingLength&) { return constant_rate(0); },
                  .stop = PlateauOptions{.patience = 2, .threshold = 0},
                  .folder = folder()});
  const auto result = run.trainer.fit(training, training);
  CHECK(result.ended == Ended::early);
  CHECK(result.epochs.size() == 4);
  CHECK(std::filesystem::exists(folder() / "best.safetensors"));
}

TEST_CASE("the best weights have the lowest loss, for any minimum improvement of stop", "[nn][trainer]") {
  const Folder cleanup;
  Told run;
  CHECK(run.fit({.epochs = 3, .stop = PlateauOptions{.patience = 5}}, {1.00, 0.97, 0.96}).epochs.size() == 3);
  CHECK(run.is_best());
  CHECK(run.fit({.epochs = 5, .stop = PlateauOptions{.patience = 5}, .resume = true}, {0.98, 0.965}).epochs.size() ==
        2);
  CHECK_FALSE(run.is_best());
}

TEST_CASE("A checkpoint from before the least loss was kept is gone on with", "[nn][trainer]") {
  const Folder cleanup;
  Told run;
  ht::nn::CheckpointManager checkpoints(folder(), ht::world());
  // Losses, rows, batches; values seen, number of the best, stopped; best value, values without improvement; scaler.
  const auto older = torch::tensor({0.0, 0.0, 6.0, 1.0, 0.0, 0.0, 0.5, 0.0, 1.0, 0.0}, torch::kDouble);
  checkpoints.save(6, run.model, run.sgd, {.epoch = 1}, {{"trainer", older}});
  checkpoints.finish();
  CHECK(run.fit({.epochs = 3, .resume = true}, {0.6, 0.4}).epochs.size() == 2);
  CHECK(run.is_best());
}

TEST_CASE("a stopped training continues if it gets more patience", "[nn][trainer]") {
  const Folder cleanup;
  const auto options = [](std::optional<int> patience, bool resume = true) {
    TrainerOptions found{.epochs = 6, .resume = resume};
    if (patience) found.stop = PlateauOptions{.patience = *patience};
    return found;
  };
  CHECK(Told().fit(options(1, false), {1, 2, 3}).ended == Ended::early);
  const auto same = Told().fit(options(1), {});
  CHECK(same.ended == Ended::early);
  CHECK(same.epochs.empty());
  const auto more = Told().fit(options(2), {4});
  CHECK(more.ended == Ended::early);
  CHECK(more.epochs.size() == 1);
  const auto none = Told().fit(options(std::nullopt), {5, 6});
  CHECK(none.ended == Ended::complete);
  CHECK(none.epochs.size() == 2);
}

TEST_CASE("a training with bad gradients continues from the previous checkpoint", "[nn][trainer]") {
  const Folder cleanup;
  const auto training = regression(1);
  const ht::Topology topology(ht::world(), {.node_of = [](int rank) { return rank % 2; }});
  auto options = with_daso();
  options.daso->interval.first = {8, 1};
  options.folder = folder();
  options.resume = true;
  options.checkpoint_every = 1;
  {
    TrainerRun run(options, topology);
    run.bad_at = 10;
    CHECK_THROWS_AS(run.trainer.fit(training), ht::ValueError);
  }
  const auto newest = ht::nn::CheckpointManager(folder(), ht::world()).numbers().back();
  CHECK(newest >= 8);
  CHECK(newest <= 9);
  TrainerRun run(options, topology);
  CHECK(run.trainer.fit(training).ended == Ended::complete);
  CHECK(run.model.equal_on_all_ranks());
}

TEST_CASE("Rows to evaluate are transformed as the options say", "[nn][trainer]") {
  const auto training = regression(1), rows = regression(2);
  const Transform scaled = [](Batch& batch, const BatchContext& context) {
    CHECK(context.rows.numel() == batch.inputs.size(0));
    batch.inputs = batch.inputs * 3;
  };
  TrainerRun run({.epochs = 2, .batch_size = 16, .evaluation_transforms = {scaled}}),
      plain({.epochs = 2, .batch_size = 16});
  const auto result = run.trainer.fit(training, rows);
  plain.trainer.fit(training);
  const Dataset expected(ht::from_local(rows.inputs().larray() * 3, {.split = 0}), rows.targets());

  CHECK(run.model.checksum() == plain.model.checksum());
  CHECK(run.trainer.evaluate(rows).loss == Approx(plain.trainer.evaluate(expected).loss).epsilon(1e-12));
  CHECK(result.epochs.back().validation->loss == Approx(run.trainer.evaluate(rows).loss).epsilon(1e-12));
  CHECK(equals(run.trainer.predict(rows.inputs()).larray(), plain.trainer.predict(rows.inputs()).larray()));
  CHECK_THROWS_AS(predict(Network(run.model), rows.inputs(), {.transforms = {scaled}}), ht::ValueError);
}

TEST_CASE("float16 trains in a trainer", "[nn][trainer]") {
  const auto training = regression(1);
  for (const auto dtype : {ht::bfloat16, ht::float16}) {
    DataParallel model(std::make_shared<SmallNet>(torch::kFloat), ht::Topology(ht::world()));
    torch::optim::Adam adam(model.parameters(), torch::optim::AdamOptions(0.01));
    Trainer trainer(model, adam, [](const auto& a, const auto& b) { return torch::mse_loss(a.to(torch::kFloat), b); },
                    {.epochs = 8,
                     .batch_size = 16,
                     .transforms = {[](Batch& batch, const BatchContext&) {
                       batch.inputs = batch.inputs.to(torch::kFloat);
                       batch.targets = batch.targets.to(torch::kFloat);
                     }},
                     .autocast = dtype,
                     .max_norm = 1.0,
                     .progress = false});
    const auto result = trainer.fit(training);
    CHECK(result.epochs.back().loss < 0.7 * result.epochs.front().loss);
    CHECK(model.equal_on_all_ranks());
  }
}

TEST_CASE("Outputs for files come in a file", "[nn][trainer]") {
  const Folder cleanup;
  TrainerRun run({.folder = folder()});
  if (ht::world().rank() == 0) std::filesystem::create_directories(folder());
  ht::world().barrier();
  const auto x = regression(1).inputs();
  ht::io::save_hdf5(x, folder() / "x.h5", "inputs");
  predict_hdf5(Network(run.model), (folder() / "x.h5").string(), folder() / "y.h5", {.inference = {.batch_size = 7}});
  const auto y = ht::io::load_hdf5((folder() / "y.h5").string(), "outputs", {.split = std::nullopt});
  const auto expected = run.trainer.predict(ht::resplit(x, std::nullopt));
  CHECK(expected.split() == std::nullopt);
  CHECK(near_to(y.larray(), expected.larray(), 1e-12, 1e-12));
}

TEST_CASE("options of a trainer without a meaning are refused", "[nn][trainer]") {
  CHECK_THROWS_AS(TrainerRun({.epochs = -1}), ht::ValueError);
  CHECK_THROWS_AS(TrainerRun({.batch_size = 0}), ht::ValueError);
  CHECK_THROWS_AS(TrainerRun({.phases = {.warmup = 0.7, .cooldown = 0.7}}), ht::ValueError);
  CHECK_THROWS_AS(TrainerRun({.autocast = ht::float64}), ht::ValueError);
  CHECK_THROWS_AS(TrainerRun({.resume = true}), ht::ValueError);
}
