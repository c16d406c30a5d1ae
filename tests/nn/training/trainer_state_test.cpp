#include "../training.hpp"
#include "../../scratch_path.hpp"
#include "../../support.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp_nn/models/script_module.hpp>
#include <heatpp_nn/parallel/sync_batch_norm.hpp>
#include <heatpp_nn/training/safetensors.hpp>
#include <heatpp_nn/training/trainer.hpp>

#include <torch/script.h>

#include <filesystem>

using namespace heatpp::nn;

namespace {

at::Tensor error(const at::Tensor& outputs, const at::Tensor& targets) { return torch::mse_loss(outputs, targets); }

/// Returns rows of a regression, split evenly over the ranks.
Dataset regression(std::int64_t rows = 24, at::ScalarType dtype = torch::kDouble) {
  const auto [x, y] = samples(rows);
  const auto part = [&](const at::Tensor& whole) {
    const auto ranks = ht::world().size(), rank = ht::world().rank();
    const auto first = rows * rank / ranks, end = rows * (rank + 1) / ranks;
    return ht::from_local(whole.narrow(0, first, end - first).to(dtype).contiguous(), {.split = 0});
  };
  return {part(x), part(y)};
}

template <class Norm>
struct NormNet : SmallNet {
  Norm norm = register_module("norm", Norm(5));
  NormNet() { to(torch::kDouble); }
  at::Tensor forward(const at::Tensor& x) { return SmallNet::forward(norm(x)); }
};

/// A folder that is empty at first and is removed at the end.
struct Folder {
  std::filesystem::path path = scratch_path("nn_trainer_state");
  Folder() { clear(); }
  ~Folder() { clear(); }
  void clear() const {
    ht::world().barrier();
    if (ht::world().rank() == 0) std::filesystem::remove_all(path);
    ht::world().barrier();
  }
};

/// A network with two groups of parameters.
struct StateRun {
  explicit StateRun(TrainerOptions options, double rate = 0.01, double of_second = 0.01)
      : model(std::make_shared<SmallNet>(), ht::Topology(ht::world())),
        sgd({{model.parameters(*model.module().first), std::make_unique<torch::optim::SGDOptions>(rate)},
             {model.parameters(*model.module().second), std::make_unique<torch::optim::SGDOptions>(of_second)}},
            torch::optim::SGDOptions(rate)),
        trainer(model, sgd, error, quiet(std::move(options))) {}
  static TrainerOptions quiet(TrainerOptions options) {
    options.batch_size = 12;
    options.progress = false;
    return options;
  }
  [[nodiscard]] std::vector<double> rates() const {
    std::vector<double> all;
    for (const auto& group : sgd.param_groups()) all.push_back(group.options().get_lr());
    return all;
  }
  [[nodiscard]] std::vector<at::Tensor> raw() const {
    std::vector<at::Tensor> all;
    const auto by_name = trainer.raw_weights();
    for (const auto& item : model.module().named_parameters()) all.push_back(by_name.at(item.key()));
    return all;
  }

  DataParallel<SmallNet> model;
  torch::optim::SGD sgd;
  Trainer trainer;
};

}  // namespace

TEST_CASE("Groups of parameters keep the ratio of their rates", "[nn][trainer]") {
  StateRun run({.epochs = 2, .rate = 0.1}, 0.1, 0.001);
  run.trainer.fit(regression());
  CHECK(run.rates() == std::vector<double>{0.1, 0.001});

  // A schedule that ends with 0, then another training.
  const auto schedule = [](std::int64_t batch) { return batch == 1 ? 0.0 : 0.5; };
  StateRun again({.rate = schedule}, 0.001, 0.1);
  again.trainer.fit(regression());
  CHECK(again.rates() == std::vector<double>{0, 0});
  const GroupRates all_alike(again.sgd);
  again.trainer.fit(regression(12));
  CHECK(again.rates()[0] == Approx(0.005));
  CHECK(again.rates()[1] == 0.5);
  all_alike.set(again.sgd, 0.2);
  CHECK(again.rates() == std::vector<double>{0.2, 0.2});
}

TEST_CASE("a resumed training takes the optimizer's options from its program", "[nn][trainer]") {
  const Folder folder;
  const TrainerOptions options{.epochs = 2, .folder = folder.path, .resume = true};
  StateRun first(options, 0.1, 0.05);
  first.trainer.fit(regression());
  const auto before = weights(first.model.module());

  auto longer = options;
  longer.epochs = 4;
  StateRun stands(longer, 0, 0);
  stands.trainer.fit(regression());
  CHECK(equal(weights(stands.model.module()), before));
  CHECK(stands.rates() == std::vector<double>{0, 0});

  longer.epochs = 6;
  StateRun moves(longer, 0.1, 0);
  moves.trainer.fit(regression());
  CHECK_FALSE(moves.model->first->weight.equal(before[0]));
  CHECK(equals(moves.model->second->weight, before[2]));
}

TEST_CASE("a resumed training uses the order of its own seed in later epochs", "[nn][trainer]") {
  const Folder folder;
  const auto end = [&](std::uint64_t seed, std::int64_t epochs, bool resume) {
    StateRun run({.epochs = epochs, .seed = seed, .folder = folder.path, .resume = resume});
    run.trainer.fit(regression());
    return weights(run.model.module());
  };
  (void)end(1, 1, false);
  const auto same = end(1, 2, true);
  folder.clear();
  (void)end(1, 1, false);
  CHECK(distance(end(9, 2, true), same) > 0);
}

TEST_CASE("A network has the running mean after a training, and its weights by name", "[nn][trainer][weight_mean]") {
  const Folder folder;
  const auto data = regression();
  StateRun plain({.epochs = 2}, 0.1), mean({.epochs = 2, .ema = 0.5, .folder = folder.path}, 0.1);
  plain.trainer.fit(data);
  mean.trainer.fit(data, data);

  const auto shown = weights(mean.model.module());
  CHECK(equal(mean.raw(), weights(plain.model.module())));
  CHECK(equal(plain.raw(), weights(plain.model.module())));
  CHECK(distance(shown, mean.raw()) > 0);
  SmallNet best, saved;
  load_safetensors((folder.path / "best.safetensors").string(), best);
  save_safetensors((folder.path / "net.safetensors").string(), mean.model);
  load_safetensors((folder.path / "net.safetensors").string(), saved);
  CHECK(equal(weights(best), shown));
  CHECK(equal(weights(saved), shown));
  CHECK(equals(mean.trainer.predict(data.inputs()).larray(), mean.model(data.inputs().larray()).detach()));
  CHECK(mean.trainer.evaluate(data).loss == evaluate(Network(mean.model), data, error).loss);
  CHECK(mean.model.equal_on_all_ranks());

  SECTION("a second training goes on with the weights") {
    plain.trainer.fit(data);
    mean.trainer.fit(data);
    CHECK(equal(mean.raw(), weights(plain.model.module())));
  }
  SECTION("a resumption, too") {
    plain.trainer.fit(data);
    StateRun resumed({.epochs = 4, .ema = 0.5, .folder = folder.path, .resume = true}, 0.1);
    resumed.trainer.fit(data);
    StateRun whole({.epochs = 4}, 0.1);
    whole.trainer.fit(data);
    CHECK(equal(resumed.raw(), weights(whole.model.module())));
  }
  SECTION("they are put back where they are asked for") {
    mean.trainer.restore_raw_weights();
    CHECK(equal(weights(mean.model.module()), weights(plain.model.module())));
    CHECK(equal(weights(mean.model.module()), mean.raw()));
  }
  SECTION("what the program has put into the network stays") {
    if (ht::world().rank() == ht::world().size() - 1) mean.model->first->bias.detach().fill_(0.25);
    mean.trainer.restore_raw_weights();
    CHECK(equals(mean.model->first->weight, shown[0]));
  }
}

TEST_CASE("dropout differs between ranks, and other random numbers of the program do not", "[nn][trainer]") {
  struct Dropped : SmallNet {
    std::vector<at::Tensor> masks;
    at::Tensor forward(const at::Tensor& x) {
      masks.push_back(torch::dropout(torch::ones({64}), 0.5, is_training()));
      return SmallNet::forward(x);
    }
  };
  const auto net = std::make_shared<Dropped>();
  DataParallel model(net, ht::Topology(ht::world()));
  torch::optim::SGD sgd(model.parameters(), 0.01);
  Trainer trainer(model, sgd, error, StateRun::quiet({}));
  const auto of_all = [](const at::Tensor& mine) {
    return ht::resplit(ht::from_local(mine.view({1, -1}), {.split = 0}), std::nullopt).larray().clone();
  };
  torch::manual_seed(0);
  trainer.fit(regression());
  const auto first = net->masks.front().clone();
  const auto masks = of_all(first), after = of_all(torch::rand({4}));
  for (int rank = 1; rank < ht::world().size(); ++rank) {
    CHECK_FALSE(masks[rank].equal(masks[0]));
    CHECK(equals(after[rank], after[0]));
  }

  net->masks.clear();
  trainer.fit(regression());  // draws other numbers
  CHECK_FALSE(net->masks.front().equal(first));
  net->masks.clear();
  torch::manual_seed(0);
  trainer.fit(regression());
  CHECK(equals(net->masks.front(), first));
  if (ht::world().size() > 1) return;
  torch::manual_seed(0);  // one rank draws as without a trainer
  CHECK(equals(torch::dropout(torch::ones({64}), 0.5, true), first));
}

TEST_CASE("A batch of one row for BatchNorm is an error on all ranks that names the options", "[nn][trainer]") {
  const auto ranks = ht::world().size(), rank = ht::world().rank();
  const auto trained = [&](auto net, const Dataset& data) {
    DataParallel model(std::move(net), ht::Topology(ht::world()));
    torch::optim::SGD sgd(model.parameters(), 0.01);
    Trainer(model, sgd, error, {.batch_size = 2 * ranks, .shuffle = Shuffle::none, .progress = false}).fit(data);
    return weights(model.module());
  };
  const auto [x, y] = samples(2 * ranks - 1);
  const auto mine = [&](const at::Tensor& all) {
    return ht::from_local(all.narrow(0, 2 * rank, rank == ranks - 1 ? 1 : 2).contiguous(), {.split = 0});
  };
  const Dataset one_alone(mine(x), mine(y));  // only the last rank has the row, and the others must not wait for it
  const auto fault = Catch::Contains("[fit] got a batch of one row on a rank"),
             way_out = Catch::Contains("expected remainder drop or pad, or SyncBatchNorm with synchronise_norms");
  for (const auto& data : {regression(3 * ranks), one_alone}) {
    CHECK_THROWS_WITH(trained(std::make_shared<NormNet<torch::nn::BatchNorm1d>>(), data), fault && way_out);
    CHECK_THROWS_WITH(trained(std::make_shared<NormNet<SyncBatchNorm>>(), data), fault && way_out);
  }
  SmallNet alone;
  torch::optim::SGD sgd(alone.parameters(), 0.01);
  error(alone.forward(x), y).backward();
  sgd.step();
  CHECK(distance(trained(std::make_shared<SmallNet>(), one_alone), weights(alone)) < 1e-14);
}

TEST_CASE("errors name inputs of another dtype", "[nn][trainer]") {
  for (const auto& [dtype, name] : {std::pair(torch::kByte, "uint8"), std::pair(torch::kFloat, "float32")}) {
    StateRun run({});
    const auto text =
        Catch::Contains(std::string("[Network] got input 0 of dtype ") + name + " for weights of float64");
    const auto data = regression(24, dtype);
    CHECK_THROWS_WITH(run.trainer.fit(data), text);
    CHECK_THROWS_WITH(run.trainer.evaluate(data), text);
    CHECK_THROWS_WITH(run.trainer.predict(data.inputs()), text);
  }
}

TEST_CASE("Buffers that are not persistent stay out of files of weights", "[nn][script]") {
  const Folder folder;
  if (ht::world().rank() == 0) {
    std::filesystem::create_directories(folder.path);
    torch::jit::Module part("Part"), net("Net");
    part.register_parameter("weight", torch::ones({3}).requires_grad_(), false);
    part.register_buffer("pe", torch::full({3}, 2.0));
    part.define("def forward(self, x):\n  return x * self.weight + self.pe\n");
    net.register_module("part", part);
    net.register_buffer("kept", torch::zeros({1}));
    net.define("def forward(self, x):\n  return self.part.forward(x) + self.kept\n");
    net.save((folder.path / "net.pt").string(), torch::jit::ExtraFilesMap{{"not_persistent", "part.pe\n"}});
  }
  ht::world().barrier();
  struct Outer : torch::nn::Module {
    std::shared_ptr<ScriptModule> inner;
    explicit Outer(const std::string& path) : inner(register_module("inner", std::make_shared<ScriptModule>(path))) {}
  };
  const auto file = (folder.path / "net.safetensors").string(), script = (folder.path / "net.pt").string();
  const auto names = [&](const torch::nn::Module& module) {
    save_safetensors(file, module);
    torch::nn::Module plain;  // has none of the names
    return message_of<ht::ValueError>([&] { load_safetensors(file, plain); });
  };
  ScriptModule net(script);
  CHECK(net.not_persistent() == std::vector<std::string>{"part.pe"});
  CHECK_THAT(names(Outer(script)), Catch::Contains("inner.part.weight") && !Catch::Contains("pe\""));
  CHECK_THAT(names(net), Catch::Contains("\"kept\", \"part.weight\""));
  {
    const at::NoGradGuard no_grad;
    net.named_parameters()["part.weight"].fill_(5);
  }
  load_safetensors(file, net);
  CHECK(equals(net.forward(torch::ones({3})), torch::full({3}, 3.0)));

  const auto again = (folder.path / "again.pt").string();
  if (ht::world().rank() == 0) net.save_script(again);
  ht::world().barrier();
  CHECK(ScriptModule(again).not_persistent() == net.not_persistent());
}
