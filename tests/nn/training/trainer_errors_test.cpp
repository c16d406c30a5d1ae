#include "../training.hpp"
#include "../../scratch_path.hpp"
#include "../../support.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp_nn/parallel/online.hpp>
#include <heatpp_nn/training/checkpoint.hpp>
#include <heatpp_nn/training/safetensors.hpp>
#include <heatpp_nn/training/trainer.hpp>

#include <filesystem>

using namespace heatpp::nn;

namespace {

int rank() { return ht::world().rank(); }
bool is_last() { return rank() == ht::world().size() - 1; }

at::Tensor misfit(const at::Tensor& outputs, const at::Tensor& targets) { return torch::mse_loss(outputs, targets); }

/// Returns rows of a regression, split evenly over the ranks of `comm`.
Dataset rows_to_fit(std::int64_t rows = 24, const ht::Communicator& comm = ht::world(),
                    at::ScalarType type = at::kDouble) {
  const auto [x, y] = samples(rows);
  const auto part = [&](const at::Tensor& whole) {
    const auto first = rows * comm.rank() / comm.size(), end = rows * (comm.rank() + 1) / comm.size();
    return ht::from_local(whole.narrow(0, first, end - first).to(type).contiguous(), {.split = 0, .comm = comm});
  };
  return {part(x), part(y)};
}

/// A network with its optimizer and Trainer.
struct FaultyRun {
  explicit FaultyRun(TrainerOptions options, Loss loss = error)
      : model(std::make_shared<SmallNet>(), ht::Topology(ht::world())),
        trainer(model, adam, std::move(loss), quiet(std::move(options))) {}

  static TrainerOptions quiet(TrainerOptions options) {
    options.progress = false;
    return options;
  }

  DataParallel<SmallNet> model;
  torch::optim::Adam adam{model.parameters(), torch::optim::AdamOptions(0.01)};
  Trainer trainer;
};

/// Whether `call` throws E with this message on this rank. Another exception does not count.
template <class E>
bool throws(const std::string& text, const std::function<void()>& call) {
  try {
    call();
  } catch (const E& thrown) {
    INFO(thrown.what());
    CHECK(std::string(thrown.what()).find(text) != std::string::npos);
    return true;
  }
  return false;
}

/// Whether a training throws if the last rank has other options.
bool throws_where(const std::string& text, const TrainerOptions& options, const TrainerOptions& other) {
  return throws<ht::ValueError>(
      text, [&] { FaultyRun(is_last() ? other : options).trainer.fit(rows_to_fit(), rows_to_fit()); });
}

/// A network that refuses batches of one row.
struct NormedNet : torch::nn::Module {
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(5));
  torch::nn::Linear last = register_module("last", torch::nn::Linear(5, 3));
  NormedNet() { to(torch::kDouble); }
  at::Tensor forward(const at::Tensor& x) { return last(norm(x)); }
};

}  // namespace

TEST_CASE("Datasets on other ranks than the model's are refused", "[nn][trainer]") {
  if (ht::world().size() == 1) return;  // one rank has no other communicator of the same size
  const auto parts = *ht::world().split(rank() % 2);
  const auto elsewhere = rows_to_fit(24, parts);
  FaultyRun run({});
  const Network network(run.model);
  CHECK(throws<ht::CommError>("[fit] got a training set on", [&] { run.trainer.fit(elsewhere); }));
  CHECK(throws<ht::CommError>("[fit] got a validation set on", [&] { run.trainer.fit(rows_to_fit(), elsewhere); }));
  CHECK(throws<ht::CommError>("[evaluate] got a dataset on", [&] { (void)run.trainer.evaluate(elsewhere); }));
  CHECK(throws<ht::CommError>("[evaluate] got a dataset on", [&] { (void)evaluate(network, elsewhere, error); }));

  const auto outputs = run.trainer.predict(elsewhere.inputs());  // predict uses only local rows
  CHECK(outputs.comm().same_ranks(parts));
  CHECK(outputs.shape() == ht::Shape{24, 3});
}

TEST_CASE("Options of a trainer that differ between ranks are refused", "[nn][trainer]") {
  const auto last = std::to_string(ht::world().size() - 1);
  if (last == "0") return;  // nothing differs on one rank
  const TrainerOptions same{.epochs = 2, .batch_size = 12};
  const auto differs = [&](const std::string& text, auto change) {
    auto other = same;
    change(other);
    CHECK(throws_where(text, same, other));
  };
  differs("[Trainer] got epochs 2 on rank 0 and 3 on rank " + last, [](auto& o) { o.epochs = 3; });
  differs("[Trainer] got batch_size 12 on rank 0 and 6", [](auto& o) { o.batch_size = 6; });
  differs("[Trainer] got shuffle local on rank 0 and global on rank ", [](auto& o) { o.shuffle = Shuffle::global; });
  differs("[Trainer] got seed 0 on rank 0 and 5", [](auto& o) { o.seed = 5; });
  differs("[Trainer] got remainder join on rank 0 and drop on rank ", [](auto& o) { o.remainder = Remainder::drop; });
  differs("[Trainer] got rate none on rank 0 and some",
          [](auto& o) { o.rate = [](const TrainingLength&) { return constant_rate(1); }; });
  differs("[Trainer] got daso none on rank 0 and some on rank ", [](auto& o) { o.daso.emplace(); });
  differs("[Trainer] got autocast none on rank 0 and bfloat16", [](auto& o) { o.autocast = ht::bfloat16; });
  differs("[Trainer] got max_norm none on rank 0 and 1.5", [](auto& o) { o.max_norm = 1.5; });
  differs("[Trainer] got ema none on rank 0 and 0.5", [](auto& o) { o.ema = 0.5; });
  differs("[Trainer] got metrics {} on rank 0 and {\"size\"}", [](auto& o) {
    o.metrics = {{"size", [](const at::Tensor&, const at::Tensor&) { return 1.0; }}};
  });
  differs("[Trainer] got stop none on rank 0 and some", [](auto& o) { o.stop = PlateauOptions{.patience = 3}; });
  differs("[Trainer] got folder \"\" on rank 0 and \"", [](auto& o) { o.folder = scratch_path("nn_differs"); });
  differs("[Trainer] got no folder to resume from", [](auto& o) { o.resume = true; });
  differs("[Trainer] got keep 2 on rank 0 and 3", [](auto& o) { o.keep = 3; });
  differs("[Trainer] got checkpoint_every 0 on rank 0 and 7", [](auto& o) { o.checkpoint_every = 7; });
  differs("[Trainer] got -1 epochs", [](auto& o) { o.epochs = -1; });

  auto some = same, others = same;
  some.daso.emplace(), others.daso = DasoOptions{.wire = ht::Wire::bfloat16};
  CHECK(throws_where("wire float32", some, others));
  some.daso.emplace(), others.daso.emplace(), others.phases.warmup = 0.5;
  CHECK(throws_where("[Trainer] got phases.warmup 0 on rank 0 and 0.5", some, others));
  const auto as_lambda = [](const at::Tensor& a, const at::Tensor& b) { return misfit(a, b); };
  const Loss loss = is_last() ? Loss(as_lambda) : Loss(error);
  CHECK(throws<ht::ValueError>(
      "[Trainer] got a loss of type at::Tensor (*)(at::Tensor const&, at::Tensor const&) on rank 0",
      [&] { const FaultyRun run(same, loss); }));
  const auto rate = [](double factor) {
    return [factor](const TrainingLength& length) {
      return in_sequence({{constant_rate(1), length.total / 2}, {constant_rate(factor)}});
    };
  };
  some = others = same;
  some.rate = rate(1), others.rate = rate(0.5);
  CHECK(throws_where("[fit] got rate 1 on rank 0 and 0.5", some, others));
}

TEST_CASE("Options of a replica that differ between ranks are named", "[nn][data_parallel]") {
  if (ht::world().size() == 1) return;
  const ht::Topology topology(ht::world());
  const auto differs = [&](const std::string& text, const ReplicaOptions& other) {
    const auto options = is_last() ? other : ReplicaOptions();
    const auto message = message_of<ht::ValueError>(
        [&] { static_cast<void>(DataParallel(std::make_shared<SmallNet>(), topology, options)); });
    CHECK_THAT(message, Catch::Contains("[Replica] got " + text + " on rank"));
  };
  differs("gradients.bucket_bytes 4194304 on rank 0 and 16", {.gradients = {.bucket_bytes = 16}});
  differs("gradients.wire float32 on rank 0 and int8", {.gradients = {.wire = ht::Wire::int8}});
  differs("gradients.reproducible false on rank 0 and true", {.gradients = {.reproducible = true}});
  differs("buffers average on rank 0 and rank0", {.buffers = BufferPolicy::rank0});
  differs("shard none on rank 0 and all", {.shard = Scope::all});
}

TEST_CASE("Optimizers that differ between ranks are named wherever they train", "[nn][trainer][daso][online]") {
  namespace optim = torch::optim;
  const ht::Topology topology(ht::world());
  const auto last = std::to_string(ht::world().size() - 1);
  DataParallel model(std::make_shared<SmallNet>(), topology);
  DataParallelMultiGPU nodes(std::make_shared<SmallNet>(), topology);
  const auto fit = [&](optim::Optimizer& optimizer) {
    Trainer(model, optimizer, misfit, FaultyRun::quiet({.epochs = 1, .batch_size = 8})).fit(rows_to_fit());
  };
  const auto step = [&](optim::Optimizer& optimizer) {
    DataParallel parallel(std::make_shared<SmallNet>(), topology);
    parallel.step(optimizer);
  };
  const auto drain = [&](optim::Optimizer& optimizer) {
    auto& options = static_cast<optim::SGDOptions&>(optimizer.param_groups()[0].options());
    const auto momentum = std::exchange(options.momentum(), 0);
    DASO daso(nodes, optimizer);
    options.momentum(momentum);
    daso.drain();
  };
  const auto sgd = [&](double momentum) {
    return optim::SGD(model.parameters(), optim::SGDOptions(0.1).momentum(momentum));
  };
  auto own = sgd(is_last() ? 0.5 : 0);
  const auto named = [&](const char* op, const std::function<void(optim::Optimizer&)>& use) {
    if (last == "0") return use(own);
    CHECK_THAT(
        message_of<ht::ValueError>([&] { use(own); }),
        Catch::Contains("[" + std::string(op) + "] got momentum 0 on rank 0 and 0.5 on rank " + last + "; expected"));
  };
  named("fit", fit);
  named("Replica", step);
  named("daso", [&](optim::Optimizer& optimizer) { DASO(nodes, optimizer); });
  named("daso", drain);
  named("OnlineTrainer", [&](optim::Optimizer& optimizer) {
    const OnlineTrainer trainer(model, optimizer, [](const at::Tensor& x, const at::Tensor&) { return x.sum(); });
  });

  optim::LBFGS closures(model.parameters());
  CHECK(throws<ht::TypeError>("[OnlineTrainer] got LBFGS", [&] {
    const OnlineTrainer trainer(model, closures, [](const at::Tensor& x, const at::Tensor&) { return x.sum(); });
  }));
  if (last == "0") return;
  optim::Adam adam(model.parameters());
  CHECK(throws<ht::ValueError>("class torch::optim::SGD on rank 0 and torch::optim::Adam on rank " + last,
                               [&] { fit(is_last() ? static_cast<optim::Optimizer&>(adam) : own); }));
  optim::SGD groups(std::vector<optim::OptimizerParamGroup>{model->first->parameters(), model->second->parameters()},
                    optim::SGDOptions(0.1));
  groups.param_groups()[1].options().set_lr(is_last() ? 0.2 : 0.1);
  CHECK(throws<ht::ValueError>("[fit] got lr of group 1 0.1 on rank 0 and 0.2", [&] { fit(groups); }));
}

TEST_CASE("if paths of weights differ between ranks, the error names them and no file is written", "[nn][checkpoint]") {
  if (ht::world().size() == 1) return;
  DataParallel model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  torch::optim::SGD sgd(model.parameters(), 0.1);
  const auto common = scratch_path("nn_paths"), path = common + (is_last() ? "b" : "a");
  const auto refused = [&](const char* op, const std::function<void()>& call) {
    CHECK_THAT(message_of<ht::ValueError>(call), Catch::Contains("[" + std::string(op) + "] got path "));
    CHECK(!std::filesystem::exists(common + "a"));
  };
  refused("save_checkpoint", [&] { save_checkpoint(path, model, sgd); });
  refused("save_safetensors", [&] { save_safetensors(path, model); });
}

TEST_CASE("A rate is a number, a schedule, or made for the length of the training", "[nn][trainer]") {
  const auto trained = [](const TrainingRate& rate) {
    FaultyRun run({.epochs = 2, .batch_size = 12, .rate = rate});
    run.trainer.fit(rows_to_fit());
    return weights(run.model.module());
  };
  const auto expected = trained([](const TrainingLength&) { return constant_rate(0.05); });
  CHECK(equal(trained(0.05), expected));
  CHECK(equal(trained(constant_rate(0.05)), expected));
  CHECK(equal(trained([](std::int64_t) { return 0.05; }), expected));
  CHECK(!equal(trained(0.01), expected));
}

TEST_CASE("Options out of range on one rank are errors on all", "[nn][trainer]") {
  const auto refused = [](const std::string& text, auto change) {
    TrainerOptions other;
    change(other);
    CHECK(throws<ht::ValueError>("[Trainer] got " + text,
                                 [&] { const FaultyRun run(is_last() ? other : TrainerOptions{}); }));
  };
  refused("0 readers and 0 workers", [](auto& o) { o.prefetch.readers = 0; });
  refused("1 readers and -1 workers", [](auto& o) { o.prefetch.workers = -1; });
  refused("a running mean that keeps 1.5", [](auto& o) { o.ema = 1.5; });
  refused("a running mean that keeps 0;", [](auto& o) { o.ema = 0; });
  refused("0 checkpoints to keep", [](auto& o) { o.keep = 0; });
  refused("the largest norm 0;", [](auto& o) { o.max_norm = 0; });
  refused("warm-up 0.5 and cool-down 0 without daso", [](auto& o) { o.phases.warmup = 0.5; });
  refused("warm-up 0 and cool-down 0.1, and phases in daso", [](auto& o) {
    o.daso = DasoOptions{.phases = {.warmup = 3}};
    o.phases.cooldown = 0.1;
  });
  refused("stop for a loss that is to grow", [](auto& o) { o.stop = PlateauOptions{.mode = PlateauMode::max}; });
}

TEST_CASE("parts of a network keep their modes during an evaluation", "[nn][trainer]") {
  FaultyRun run({});
  auto& net = run.model.module();
  net.second->eval();
  (void)run.trainer.evaluate(rows_to_fit());
  (void)run.trainer.predict(rows_to_fit().inputs());
  CHECK(net.is_training());
  CHECK(net.first->is_training());
  CHECK_FALSE(net.second->is_training());
  run.trainer.fit(rows_to_fit(), rows_to_fit());
  CHECK(net.second->is_training());
}

TEST_CASE("a validation set on one rank only is refused", "[nn][trainer]") {
  if (ht::world().size() == 1) return;  // there are no other ranks
  FaultyRun run({});
  const auto training = rows_to_fit();
  const auto validation = rows_to_fit();
  CHECK(throws<ht::ValueError>("[fit] got rows to validate 24 on rank 0 and none on rank 1", [&] {
    run.trainer.fit(training, rank() == 1 ? std::nullopt : std::optional(validation));
  }));
}

TEST_CASE("A validation set has rows, and is there to stop by", "[nn][trainer]") {
  int calls = 0;
  FaultyRun run(
      {}, [&](const at::Tensor& outputs, const at::Tensor& targets) { return ++calls, misfit(outputs, targets); });
  CHECK(throws<ht::ValueError>("validation set of 0 rows", [&] { run.trainer.fit(rows_to_fit(), rows_to_fit(0)); }));
  CHECK(calls == 0);
  FaultyRun stops({.stop = PlateauOptions{}});
  CHECK(throws<ht::ValueError>("[fit] got stop, but no validation set", [&] { stops.trainer.fit(rows_to_fit()); }));
}

TEST_CASE("if a loss, a metric or the network throws on one rank in evaluate, all ranks throw", "[nn][trainer]") {
  FaultyRun run({});
  const Network network(run.model);
  const auto fails = [](const at::Tensor&, const at::Tensor&) -> double {
    if (is_last()) throw ht::IndexError("[mine] got no luck; expected some");
    return 1;
  };
  const InferenceOptions few{.batch_size = 2};
  const auto loss = [&](const at::Tensor& a, const at::Tensor& b) { return at::scalar_tensor(fails(a, b)); };
  CHECK(throws<ht::IndexError>("[mine] got no luck", [&] {
    (void)evaluate(network, rows_to_fit(), misfit, {{"fails", fails}}, few);
  }));
  CHECK(throws<ht::IndexError>("[mine] got no luck", [&] { (void)evaluate(network, rows_to_fit(), loss, {}, few); }));
  CHECK(run.model.module().is_training());
  CHECK(evaluate(network, rows_to_fit(), misfit, {}, few).rows == 24);  // no operation is left under way
}

TEST_CASE("if a loss or the network throws on one rank in fit, all ranks throw before a step", "[nn][trainer]") {
  const auto bad = [](const at::Tensor& a, const at::Tensor& b) {
    if (is_last()) throw ht::IndexError("[mine] got no luck; expected some");
    return torch::mse_loss(a, b);
  };
  const auto data = rows_to_fit(24, ht::world(), at::kFloat);
  const auto fails = [&](const TrainerOptions& given, const ReplicaOptions& replica) {
    const auto options = FaultyRun::quiet(given);
    DataParallel<torch::nn::LinearImpl> model(std::make_shared<torch::nn::LinearImpl>(5, 3), ht::Topology(ht::world()),
                                              replica);
    torch::optim::SGD sgd(model.parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
    const auto before = model.module().weight.detach().clone();
    Trainer wrong(model, sgd, bad, options);
    CHECK(throws<ht::IndexError>("[mine] got no luck", [&] { (void)wrong.fit(data); }));
    CHECK(equals(model.module().weight.detach(), before));
    Trainer right(model, sgd, misfit, options);  // no operation is left under way
    CHECK(std::isfinite(right.fit(data).epochs.back().loss));
    CHECK(!model.module().weight.detach().equal(before));
  };
  fails({.batch_size = 12}, {});
  fails({.batch_size = 12, .max_norm = 1.0}, {.gradients = {.wire = ht::Wire::bfloat16}});
  fails({.batch_size = 12}, {.gradients = {.wire = ht::Wire::int8}});
  fails({.batch_size = 12}, {.gradients = {.reproducible = true}});
  fails({.batch_size = 12}, {.shard = Scope::all});
  fails({.batch_size = 12, .autocast = ht::float16}, {});
}

TEST_CASE("Arguments of evaluate that differ between ranks are refused", "[nn][trainer]") {
  if (ht::world().size() == 1) return;  // nothing differs on one rank
  FaultyRun run({});
  const Network network(run.model);
  const Metrics metrics{{"one", [](const at::Tensor&, const at::Tensor&) { return 1.0; }}};
  CHECK(throws<ht::ValueError>("[evaluate] got batch_size 8 on rank 0 and 4", [&] {
    (void)evaluate(network, rows_to_fit(), misfit, {}, {.batch_size = is_last() ? 4 : 8});
  }));
  CHECK(throws<ht::ValueError>("[evaluate] got metrics {} on rank 0 and {\"one\"}", [&] {
    (void)evaluate(network, rows_to_fit(), misfit, is_last() ? metrics : Metrics());
  }));
}

TEST_CASE("a loss without a gradient is refused, and errors list the arguments of losses", "[nn][trainer]") {
  FaultyRun run({},
                [](const at::Tensor& outputs, const at::Tensor& targets) { return misfit(outputs, targets).detach(); });
  CHECK(throws<ht::ValueError>("without a gradient of a function that is called with the network's outputs",
                               [&] { run.trainer.fit(rows_to_fit()); }));
  DataParallel model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  torch::optim::Adam adam(model.parameters(), 0.01);
  OnlineTrainer online(model, adam, [](const at::Tensor& x, const at::Tensor&) { return x.mean(); });
  const auto [x, y] = samples(4);
  CHECK(throws<ht::ValueError>("is called with inputs and targets, and calls the network itself",
                               [&, x = x, y = y] { online.train_step(x, y); }));
}

TEST_CASE("LibTorch's errors come without its stack", "[nn][trainer]") {
  FaultyRun run({});
  const auto whole = rows_to_fit();
  const Dataset narrow(whole.inputs().astype(ht::float32), whole.targets());
  const auto says = [](const std::function<void()>& call) {
    const auto message = message_of<ht::Error>(call);
    CHECK_THAT(message,
               Catch::Contains("mat1 and mat2") && !Catch::Contains("raised from") && !Catch::Contains("frame"));
  };
  says([&] { run.trainer.fit(narrow); });
  says([&] { (void)run.trainer.evaluate(narrow); });
  says([&] { (void)run.trainer.predict(narrow.inputs()); });
}

TEST_CASE("Rows that do not fill a batch are left out or trained twice for networks that need full ones",
          "[nn][trainer]") {
  const auto ranks = ht::world().size();
  const auto rows = rows_to_fit(2 * ranks + 1);  // one rank has a row more than a batch
  for (const auto remainder : {Remainder::drop, Remainder::pad}) {
    DataParallel model(std::make_shared<NormedNet>(), ht::Topology(ht::world()));
    torch::optim::Adam adam(model.parameters(), 0.01);
    Trainer trainer(model, adam, misfit, {.batch_size = 2 * ranks, .remainder = remainder, .progress = false});
    const auto result = trainer.fit(rows);
    CHECK(result.batches == (remainder == Remainder::drop ? 1 : 2));
    CHECK(std::isfinite(result.epochs.front().loss));
    model.average_buffers();
    CHECK(model.equal_on_all_ranks());
  }
}
