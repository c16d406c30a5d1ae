#include "../scratch_file.hpp"
#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp_nn/optim/lamb.hpp>
#include <heatpp_nn/optim/muon.hpp>
#include <heatpp_nn/parallel/recompute.hpp>
#include <heatpp_nn/parallel/sync_batch_norm.hpp>
#include <heatpp_nn/training/checkpoint.hpp>
#include <heatpp_nn/training/detail/training.hpp>
#include <heatpp_nn/training/safetensors.hpp>
#include <heatpp_nn/training/trainer.hpp>

using namespace heatpp::nn;

namespace {

using Rows = std::pair<at::Tensor, at::Tensor>;

/// Whole copies, or weights and gradients that the ranks of a node share, in small buckets.
ReplicaOptions way(bool shared, std::int64_t bucket_bytes = 200, Scope scope = Scope::node) {
  return {.gradients = {.bucket_bytes = bucket_bytes},
          .shard = shared ? std::optional(scope) : std::nullopt,
          .shard_weights = shared};
}

/// The scopes of the optimizer that go with shared weights.
std::vector<Scope> scopes(const ht::Topology& topology) {
  if (!topology.uniform()) return {Scope::node};
  return {Scope::node, Scope::all};
}

/// Layers of which one is used twice, one is frozen, and one is used by no rank.
struct Odd : torch::nn::Module {
  torch::nn::Linear first{nullptr}, tied{nullptr}, frozen{nullptr}, unused{nullptr}, last{nullptr};
  bool checkpointed = false;

  Odd() {
    torch::manual_seed(3);
    first = register_module("first", torch::nn::Linear(5, 6));
    tied = register_module("tied", torch::nn::Linear(6, 6));
    frozen = register_module("frozen", torch::nn::Linear(6, 6));
    unused = register_module("unused", torch::nn::Linear(6, 6));
    last = register_module("last", torch::nn::Linear(6, 3));
    register_module("again", tied);
    for (auto& parameter : frozen->parameters()) parameter.requires_grad_(false);
    to(torch::kDouble);
  }
  at::Tensor forward(const at::Tensor& x) {
    const auto y = torch::tanh(tied(frozen(torch::tanh(tied(first(x))))));
    return checkpointed ? ht::nn::checkpointed(*last, y) : last(y);
  }
};

/// A layer that normalises over all ranks, complex weights, and weights of several dtypes.
struct Mixed : torch::nn::Module {
  torch::nn::Linear first{nullptr}, last{nullptr};
  SyncBatchNorm norm{nullptr};
  at::Tensor spectral;

  Mixed() {
    torch::manual_seed(5);
    first = register_module("first", torch::nn::Linear(5, 6));
    norm = register_module("norm", SyncBatchNorm(6));
    spectral = register_parameter("spectral", torch::randn({6, 3}, torch::kComplexDouble));
    first->to(torch::kDouble);
    norm->to(torch::kDouble);
    last = register_module("last", torch::nn::Linear(3, 3));
  }
  at::Tensor forward(const at::Tensor& x) {
    const auto y = torch::tanh(norm(first(x))).to(torch::kComplexDouble).matmul(spectral);
    return last(at::real(y).to(torch::kFloat)).to(torch::kDouble);
  }
};

/// Trains four batches and returns the weights. `run` computes the gradients of a batch.
template <class Net>
std::vector<at::Tensor> trained(const ht::Topology& topology, const ReplicaOptions& options,
                                const std::function<void(DataParallel<Net>&, std::int64_t batch)>& run,
                                std::optional<double> max_norm = std::nullopt) {
  DataParallel<Net> model(std::make_shared<Net>(), topology, options);
  torch::optim::AdamW adam(model.parameters(), torch::optim::AdamWOptions(0.01));
  for (std::int64_t b = 0; b < 4; ++b) {
    adam.zero_grad();
    run(model, b);
    model.average_gradients();
    if (max_norm) CHECK(model.clip_gradients(*max_norm) > 0);
    model.update(adam);
  }
  CHECK(model.equal_on_all_ranks());
  return weights(model.module());
}

std::vector<at::Tensor> by_daso(const ht::Topology& topology, bool shared, const DasoOptions& options) {
  DasoTraining run(topology, way(shared), options);
  run.train(0, 14);
  auto found = run.drained();
  run.train(14, 15);
  const auto more = weights(run.model.module());
  found.insert(found.end(), more.begin(), more.end());
  return found;
}

}  // namespace

TEST_CASE("ranks that share weights and gradients train as with whole copies", "[nn][shard_weights]") {
  const auto plain = [](DataParallel<SmallNet>& model, std::int64_t b) { backward(model, b); };
  for (const auto& topology : topologies())
    for (const std::int64_t bytes : {1, 200, 1 << 20})
      for (const auto max_norm : {std::optional<double>(), std::optional(0.1)}) {
        const auto whole = trained<SmallNet>(topology, way(false, bytes), plain, max_norm);
        for (const auto scope : scopes(topology)) {
          const auto shared = trained<SmallNet>(topology, way(true, bytes, scope), plain, max_norm);
          CHECK(distance(shared, whole) < 1e-12);
          if (ht::world().size() == 1) CHECK(equal(shared, whole));
        }
      }
}

TEST_CASE("tied, frozen and unused layers, several forwards and recomputing go with shared weights",
          "[nn][shard_weights]") {
  using Model = DataParallel<Odd>;
  const auto loss = [](Model& model, const Rows& rows) { return torch::mse_loss(model(rows.first), rows.second); };
  const std::vector<std::function<void(Model&, std::int64_t)>> runs{
      [&](Model& model, std::int64_t b) { loss(model, my_batch(b, 4)).backward(); },
      [&](Model& model, std::int64_t b) {  // two forwards, then one backward
        const auto first = loss(model, my_batch(b, 4)), second = loss(model, my_batch(b + 50, 3));
        (first + second).backward();
      },
      [&](Model& model, std::int64_t b) {  // two batches in a step
        {
          const auto guard = model.no_sync();
          loss(model, my_batch(b, 4)).backward();
        }
        loss(model, my_batch(b + 50, 4)).backward();
      },
      [&](Model& model, std::int64_t b) {  // an evaluation between forward and backward
        const auto found = loss(model, my_batch(b, 4));
        model.module().eval();
        {
          const at::NoGradGuard no_grad;
          (void)loss(model, my_batch(b + 50, 4));
        }
        model.module().train();
        found.backward();
      },
      [&](Model& model, std::int64_t b) {
        model.module().checkpointed = true;
        loss(model, my_batch(b, 4)).backward();
      },
      [&](Model& model, std::int64_t b) {  // ranks with different numbers of rows, some without any
        const auto rows = (b + ht::world().rank()) % 3;
        const auto [x, y] = my_batch(b, 3);
        const auto found = rows > 0 ? loss(model, {x.narrow(0, 0, rows), y.narrow(0, 0, rows)}) : at::Tensor();
        model.backward(found, static_cast<double>(rows));
      },
      [&](Model& model, std::int64_t b) {  // ranks use different layers
        const auto [x, y] = my_batch(b, 4);
        auto& net = model.module();
        if (ht::world().rank() % 2 == 0) loss(model, {x, y}).backward();
        else torch::mse_loss(net.last(net.unused(net.first(x))), y).backward();
      }};
  for (const auto& topology : topologies())
    for (const auto& run : runs)
      CHECK(distance(trained<Odd>(topology, way(true), run), trained<Odd>(topology, way(false), run)) < 1e-12);
}

TEST_CASE("layers that normalise over ranks, complex weights and several dtypes go with shared weights",
          "[nn][shard_weights]") {
  for (const auto& topology : topologies()) {
    const auto run = [&](DataParallel<Mixed>& model, std::int64_t b) {
      if (b == 0) synchronise_norms(model.module(), topology);
      backward(model, b);
    };
    CHECK(distance(trained<Mixed>(topology, way(true), run), trained<Mixed>(topology, way(false), run)) < 1e-5);
  }
}

TEST_CASE("DASO averages the shares of weights that the ranks of a node have in common", "[nn][shard_weights][daso]") {
  const std::vector<DasoOptions> ways{
      {.phases = {.warmup = 2, .cooldown = 3, .total = 20}, .interval = {.first = {3, 1}}, .max_norm = 0.5},
      {.phases = {.warmup = 2}, .interval = {.first = {3, 1}}, .merge = {.policy = MergePolicy::outer}},
      {.phases = {.warmup = 2}, .interval = {.first = {3, 1}}, .partners = Partners::pairs, .fragments = 3}};
  for (const auto& topology : topologies())
    for (const auto& options : ways)
      CHECK(distance(by_daso(topology, true, options), by_daso(topology, false, options)) < 1e-12);
}

TEST_CASE("reproducible sums, narrow wires and loss scales go with shared weights", "[nn][shard_weights]") {
  for (const auto& topology : topologies())
    for (const auto wire : {ht::Wire::float32, ht::Wire::int8}) {
      const auto weights_with = [&](bool shared) {
        auto options = way(shared);
        options.gradients.wire = wire;
        options.gradients.reproducible = wire == ht::Wire::float32;
        DataParallel model(std::make_shared<SmallNet>(torch::kFloat), topology, options);
        torch::optim::SGD sgd(model.parameters(), 0.1);
        GradScaler scaler({.initial = 8});
        for (std::int64_t b = 0; b < 4; ++b) {
          sgd.zero_grad();
          const auto [x, y] = my_batch(b, 4);
          scaler.scale(torch::mse_loss(model(x.to(torch::kFloat)), y.to(torch::kFloat))).backward();
          if (scaler.finish(model)) model.update(sgd);
        }
        return weights(model.module());
      };
      CHECK(equal(weights_with(true), weights_with(false)));
    }
}

TEST_CASE("optimizers of whole layers step weights that ranks share", "[nn][shard_weights]") {
  for (const auto& topology : topologies()) {
    const auto weights_with = [&](bool shared, bool muon) {
      DataParallel model(std::make_shared<SmallNet>(), topology, way(shared));
      std::unique_ptr<torch::optim::Optimizer> optimizer;
      if (muon) optimizer = std::make_unique<Muon>(model, MuonOptions(0.02));
      else optimizer = std::make_unique<Lamb>(model, LambOptions(0.02));
      for (std::int64_t b = 0; b < 4; ++b) {
        optimizer->zero_grad();
        backward(model, b);
        model.step(*optimizer);
      }
      return weights(model.module());
    };
    CHECK(distance(weights_with(true, false), weights_with(false, false)) < 1e-12);
    CHECK(distance(weights_with(true, true), weights_with(false, true)) < 1e-12);
  }
}

TEST_CASE("A checkpoint of shared weights continues in any mode, and one of any mode with shared weights",
          "[nn][shard_weights][checkpoint]") {
  const auto path = scratch_path("nn_shard_weights");
  const ScratchFile scratch{path};
  const auto zero_1 = ReplicaOptions{.gradients = {.bucket_bytes = 200}, .shard = Scope::node};
  const std::vector<ReplicaOptions> modes{way(true), way(false), zero_1};
  const DasoOptions options{.phases = {.warmup = 2, .cooldown = 2, .total = 12}, .interval = {.first = {3, 1}}};
  for (const auto& topology : topologies()) {
    DasoTraining whole(topology, way(false), options);
    whole.train(0, 12);
    const auto expected = whole.drained();
    for (const auto& before : modes)
      for (const auto& after : modes)
        for (const std::int64_t saved_at : {1, 6}) {
          if (!before.shard_weights && !after.shard_weights) continue;
          DasoTraining first(topology, before, options);
          first.train(0, saved_at);
          save_checkpoint(path, first.daso);
          first.train(saved_at, saved_at + 1);
          DasoTraining again(topology, after, options);
          (void)load_checkpoint(path, again.daso);
          again.train(saved_at, 12);
          CHECK(distance(again.drained(), expected) < 1e-12);
        }
  }
}

TEST_CASE("safetensors hold whole tensors of shared weights, and are loaded into them", "[nn][shard_weights]") {
  const auto path = scratch_path("nn_shard_weights_safetensors");
  const ScratchFile scratch{path};
  for (const auto& topology : topologies()) {
    const auto weights_with = [&](bool shared) {
      DataParallel model(std::make_shared<SmallNet>(), topology, way(shared));
      torch::optim::Adam adam(model.parameters());
      const auto train = [&](std::int64_t b) {
        adam.zero_grad();
        backward(model, b);
        model.step(adam);
      };
      train(0);
      save_safetensors(path, model);
      const auto saved = weights(model.module());
      train(1);
      load_safetensors(path, model);
      CHECK(equal(weights(model.module()), saved));
      train(2);
      return weights(model.module());
    };
    CHECK(distance(weights_with(true), weights_with(false)) < 1e-12);
  }
}

TEST_CASE("The Trainer evaluates, saves and resumes a running mean of shared weights", "[nn][shard_weights]") {
  const std::filesystem::path folder = scratch_path("nn_shard_weights_trainer");
  const auto clear = [&] {
    ht::world().barrier();
    if (ht::world().rank() == 0) std::filesystem::remove_all(folder);
    ht::world().barrier();
  };
  const auto [x, y] = samples(11, 1 + static_cast<std::uint64_t>(ht::world().rank()));
  const auto rows = 11 - 3 * ht::world().rank();  // batches that do not fill all ranks
  const Dataset data(ht::from_local(x.narrow(0, 0, rows).contiguous(), {.split = 0}),
                     ht::from_local(y.narrow(0, 0, rows).contiguous(), {.split = 0}));
  const ht::Topology topology(ht::world());
  const auto weights_with = [&](bool shared, bool daso) {
    clear();
    std::vector<at::Tensor> found;
    for (const std::int64_t epochs : {2, 4}) {
      DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology, way(shared));
      torch::optim::Adam adam(model.parameters(), torch::optim::AdamOptions(0.01));
      Trainer trainer(model, adam, "mse",
                      {.epochs = epochs,
                       .batch_size = 4,
                       .daso = daso ? std::optional(DasoOptions{.interval = {.first = {2, 1}}}) : std::nullopt,
                       .ema = 0.9,
                       .folder = folder,
                       .resume = true,
                       .progress = false});
      (void)trainer.fit(data, data);
      found = weights(model.module());
      for (const auto& [name, tensor] : trainer.raw_weights()) found.push_back(tensor);
      found.push_back(torch::full({1}, trainer.evaluate(data).loss, torch::kDouble));
      trainer.restore_raw_weights();
      CHECK(model.equal_on_all_ranks());
    }
    return found;
  };
  for (const bool daso : {false, true}) CHECK(distance(weights_with(true, daso), weights_with(false, daso)) < 1e-12);
  clear();
}

TEST_CASE("Weights that ranks share are written in change_weights, and writes elsewhere are errors on all ranks",
          "[nn][shard_weights]") {
  for (const auto& topology : topologies()) {
    const auto run = [&](bool shared) {
      DataParallel model(std::make_shared<SmallNet>(), topology, way(shared));
      torch::optim::SGD sgd(model.parameters(), 0.1);
      for (std::int64_t b = 0; b < 3; ++b) {
        model.change_weights([&] {
          const at::NoGradGuard no_grad;
          for (auto& parameter : model.module().parameters()) parameter.mul_(0.5);
        });
        sgd.zero_grad();
        backward(model, b);
        model.step(sgd);
      }
      return weights(model.module());
    };
    CHECK(distance(run(true), run(false)) < 1e-13);

    DataParallel model(std::make_shared<SmallNet>(), topology, way(true));
    CHECK_THROWS_AS(model.change_weights([] { throw std::runtime_error("broken"); }), std::exception);
    if (ht::world().rank() == ht::world().size() - 1) {
      const at::NoGradGuard no_grad;
      model.module().first->bias.zero_();
    }
    ht::world().barrier();
    backward(model, 0);
    CHECK_THAT(message_of<ht::ValueError>([&] { model.average_gradients(); }), Catch::Contains("change_weights"));
  }
}

TEST_CASE("Shared weights that get other memory come back with their values", "[nn][shard_weights]") {
  const auto run = [](bool shared) {
    DataParallel model(std::make_shared<SmallNet>(), ht::Topology(ht::world()), way(shared));
    torch::optim::SGD sgd(model.parameters(), 0.1);
    for (std::int64_t b = 0; b < 3; ++b) {
      model.module().first->weight.set_data(torch::full({8, 5}, 0.1 * static_cast<double>(b), torch::kDouble));
      sgd.zero_grad();
      backward(model, b);
      model.step(sgd);
    }
    CHECK(model.equal_on_all_ranks());
    return weights(model.module());
  };
  const ht::Topology topology(ht::world(), {.node_of = [](int) { return 0; }});
  CHECK(distance(run(true), run(false)) < 1e-13);
}

TEST_CASE("Options that shared weights do not go with are errors on all ranks", "[nn][shard_weights]") {
  const ht::Topology topology(ht::world(), {.node_of = [](int) { return 0; }});
  const auto refusal = [&](const ReplicaOptions& options) {
    return message_of<ht::ValueError>([&] { DataParallel(std::make_shared<SmallNet>(), topology, options); });
  };
  CHECK_THAT(refusal({.shard_weights = true}), Catch::Contains("shard_weights without shard"));
  if (ht::world().size() < 3) return;
  const ht::Topology unequal(ht::world(), {.node_of = [](int rank) { return rank == 0; }});
  CHECK_THAT(message_of<ht::ValueError>(
                 [&] { DataParallel(std::make_shared<SmallNet>(), unequal, way(true, 200, Scope::all)); }),
             Catch::Contains("all ranks of unequal nodes"));
}

TEST_CASE("Shared weights need ranks that share memory", "[.no_shared_memory]") {
  const ht::Topology topology(ht::world(), {.node_of = [](int) { return 0; }});
  CHECK_THAT(message_of<ht::ValueError>([&] { DataParallel(std::make_shared<SmallNet>(), topology, way(true)); }),
             Catch::Contains("/dev/shm"));
}
