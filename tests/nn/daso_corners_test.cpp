#include "scratch_file.hpp"
#include "training.hpp"
#include "../support.hpp"

#include <heatpp_nn/training/detail/training_archive.hpp>

using namespace heatpp::nn;

namespace {

std::string corners_path() { return scratch_path("nn_daso_corners_test"); }

/// A training by DASO in float32. The last rank may get a bad gradient in some batch.
struct Run {
  explicit Run(const ht::Topology& topology, const DasoOptions& options = {}, const ReplicaOptions& replica = {})
      : model(std::make_shared<SmallNet>(at::kFloat), topology, replica), daso(model, adam, options) {}

  void train(std::int64_t last, std::int64_t bad = -1) {
    while (daso.batch() < last) {
      daso.zero_grad();
      const auto [x, y] = my_batch(daso.batch(), 4);
      const auto loss = torch::mse_loss(model(x.to(at::kFloat)), y.to(at::kFloat));
      const bool mine = daso.batch() == bad && ht::world().rank() == ht::world().size() - 1;
      (mine ? loss * std::nan("") : loss).backward();
      daso.step(1.0);
    }
  }

  DataParallelMultiGPU<SmallNet> model;
  torch::optim::Adam adam{model.parameters(), torch::optim::AdamOptions(0.01)};
  DASO daso;
};

}  // namespace

TEST_CASE("No checkpoint is written once a node has seen a bad gradient", "[nn][daso][checkpoint]") {
  const ScratchFile scratch{corners_path()};
  const DasoOptions options{.interval = {.first = {8, 1}}};
  for (const auto& topology : topologies()) {
    Run run(topology, options), again(topology, options);
    if (run.daso.nodes() == 1) continue;  // one node throws at once
    run.train(4);
    save_checkpoint(corners_path(), run.daso, {.batch = 4});
    run.train(6, 5);
    const auto message = message_of<ht::ValueError>([&] { save_checkpoint(corners_path(), run.daso, {.batch = 6}); });
    CHECK_THAT(message, Catch::Contains("NaN or infinity for parameter second."));
    CHECK(load_checkpoint(corners_path(), again.daso).position.batch == 4);
    again.train(12);

    auto older = again.daso.state();  // as files of older versions, written after one
    older.failed = true;
    run.daso.set_state(std::move(older));
    run.daso.align();
    run.train(20);
    run.daso.drain();
    CHECK(run.model.equal_on_all_ranks());
  }
}

TEST_CASE("Local skips end with the training that asked for them", "[nn][daso][checkpoint]") {
  const ScratchFile scratch{corners_path()};
  for (const auto& topology : topologies()) {
    Run skips(topology, {.interval = {.first = {4, 1, 2}, .local_skips = true}});
    skips.train(6);
    save_checkpoint(corners_path(), skips.daso);

    for (const auto& options : {DasoOptions{}, DasoOptions::automatic()})
      for (const auto shard : {std::optional<Scope>(), std::optional(Scope::node)}) {
        Run run(topology, options, {.shard = shard});
        (void)load_checkpoint(corners_path(), run.daso);
        CHECK(run.daso.interval().local == 1);
        run.train(9);
        const auto sums = topology.node().allgather(std::int64_t{run.model.checksum()});
        CHECK(std::set(sums.begin(), sums.end()).size() == 1);
      }
  }
  ht::nn::detail::RankState state;
  state.generator = at::zeros({8}, at::kByte);
  state.daso.sync.interval.local = 0;
  CHECK_THROWS_WITH(ht::nn::detail::rank_state(ht::nn::detail::to_head(state)), "a damaged record of intervals");
}

TEST_CASE("gradients of another wire or in other buckets start again with the weights of a checkpoint",
          "[nn][daso][checkpoint]") {
  const ScratchFile scratch{corners_path()};
  const DasoOptions options{.phases = {.warmup = 6}, .interval = {.first = {2, 1}}};
  const std::vector<GradientOptions> ways{{}, {.wire = ht::Wire::int8}, {.bucket_bytes = 100, .wire = ht::Wire::int8}};
  for (const auto& topology : topologies())
    for (const auto& before : ways) {
      Run first(topology, options, {.gradients = before});
      first.train(5);
      const auto saved = first.model.checksum();
      for (const auto& after : ways) {
        Run second(topology, options, {.gradients = after}), third(topology, options, {.gradients = after});
        save_checkpoint(corners_path(), first.daso, {.batch = 5});
        CHECK(load_checkpoint(corners_path(), second.daso).position.batch == 5);
        CHECK(second.model.checksum() == saved);
        second.train(12);
        second.daso.drain();
        CHECK(second.model.equal_on_all_ranks());

        save_checkpoint(corners_path(), first.model, first.adam, {.batch = 5});  // as DataParallel does
        CHECK(load_checkpoint(corners_path(), third.model, third.adam).position.batch == 5);
        CHECK(third.model.checksum() == saved);
      }
    }
}

TEST_CASE("random numbers of a GPU are read if the checkpoint has any", "[nn][checkpoint]") {
  ht::nn::detail::RankState state;
  state.generator = at::zeros({8}, at::kByte);
  CHECK_FALSE(ht::nn::detail::rank_state(ht::nn::detail::to_head(state)).device_generator.defined());
  state.device_generator = at::full({16}, 3, at::kByte);
  CHECK(equals(ht::nn::detail::rank_state(ht::nn::detail::to_head(state)).device_generator, state.device_generator));
}

TEST_CASE("a bad gradient on one rank during independent training is an error on all", "[nn][daso]") {
  const ht::Topology topology(ht::world(), {.node_of = [](int) { return 0; }});
  DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology);
  torch::optim::SGD sgd(model.parameters(), 0.1);
  DASO daso(model, sgd,
            {.interval = {.first = {4, 1, 4}, .local_skips = true}, .merge = {.policy = MergePolicy::outer}});
  std::int64_t now = 0;
  model.module().first->bias.register_hook(
      [&](const at::Tensor& g) { return now == 1 && ht::world().rank() == 0 ? g * std::nan("") : g; });
  std::string message;
  for (; now < 8 && message.empty(); ++now) {
    daso.zero_grad();
    backward(model, now);
    message = message_of<ht::ValueError>([&] { daso.step(1.0); });
  }
  CHECK_THAT(message, Catch::Contains("first.bias"));
  CHECK(now == 4);
}

TEST_CASE("state that only some nodes have is averaged with zeros of the others", "[nn][daso]") {
  struct Experts : torch::nn::Module {
    std::vector<at::Tensor> of_node;
    explicit Experts(int nodes) {
      for (int i = 0; i < nodes; ++i)
        of_node.push_back(register_parameter(std::to_string(i), torch::ones({3 + i}, torch::kDouble)));
    }
    at::Tensor forward(int node) { return (node + 1.0) * of_node[static_cast<std::size_t>(node)].sum(); }
  };
  for (const auto& map : node_maps()) {
    const auto nodes = nodes_of(map), node = map(ht::world().rank());
    const ht::Topology topology(ht::world(), {.node_of = map});
    const auto train = [&](auto& optimizer, auto& model) {
      DASO daso(model, optimizer, {.interval = {.first = {10, 1}}});
      for (int b = 0; b < 2; ++b) {
        daso.zero_grad();
        model(node).backward();
        daso.step(1.0);
      }
      daso.drain();
    };
    DataParallelMultiGPU model(std::make_shared<Experts>(nodes), topology);
    torch::optim::SGD sgd(model.parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
    train(sgd, model);
    DataParallelMultiGPU other(std::make_shared<Experts>(nodes), topology);
    torch::optim::Adam adam(other.parameters(), torch::optim::AdamOptions(0.1));
    train(adam, other);

    for (int i = 0; i < nodes; ++i) {
      double ranks = 0;
      for (int r = 0; r < ht::world().size(); ++r) ranks += map(r) == i;
      const auto share = ranks / ht::world().size();
      const auto& momentum = dynamic_cast<torch::optim::SGDParamState&>(
          *sgd.state().at(model.parameters()[static_cast<std::size_t>(i)].unsafeGetTensorImpl()));
      CHECK(near_to(momentum.momentum_buffer(), torch::full({3 + i}, share * 1.9 * (i + 1), torch::kDouble)));
      const auto& state = dynamic_cast<torch::optim::AdamParamState&>(
          *adam.state().at(other.parameters()[static_cast<std::size_t>(i)].unsafeGetTensorImpl()));
      CHECK(state.step() == 2);
      CHECK(near_to(state.exp_avg(), torch::full({3 + i}, share * 0.19 * (i + 1), torch::kDouble)));
    }
    CHECK(model.equal_on_all_ranks());
    CHECK(other.equal_on_all_ranks());
  }
}

TEST_CASE("A node leaves out the batches in which its float16 overflows", "[nn][daso]") {
  for (const auto& topology : topologies()) {
    DataParallelMultiGPU model(std::make_shared<SmallNet>(torch::kFloat), topology);
    torch::optim::SGD sgd(model.parameters(), 0.05);
    GradScaler scaler({.initial = 1024});
    DASO daso(model, sgd, {.phases = {.warmup = 2}, .interval = {.first = {3, 1}}, .scaler = &scaler});
    double loss = 0, first = 0;
    for (std::int64_t b = 0; b < 30; ++b) {
      daso.zero_grad();
      const auto [x, y] = my_batch(b, 8);
      const auto of_batch = torch::mse_loss(model(x.to(torch::kFloat)), y.to(torch::kFloat));
      const bool bad = b % 7 == 5 && ht::world().rank() == 0;
      scaler.scale(bad ? of_batch * std::numeric_limits<float>::infinity() : of_batch).backward();
      daso.step(of_batch);
      loss = of_batch.item<double>();
      if (b == 0) first = loss;
    }
    daso.drain();
    CHECK(loss < 0.8 * first);
    CHECK(scaler.state().scale == 1024 / 16);  // the node of rank 0 skipped four batches
    CHECK(model.equal_on_all_ranks());
  }
  DataParallelMultiGPU model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  torch::optim::SGD sgd(model.parameters(), 0.05);
  GradScaler scaler;
  CHECK_THROWS_AS(DASO(model, sgd, {.interval = {.local_skips = true}, .scaler = &scaler}), ht::ValueError);
}

TEST_CASE("a long training records its latest synchronisations", "[nn][daso]") {
  const ht::Topology topology(ht::world(), {.node_of = [](int rank) { return rank; }});
  auto net = std::make_shared<Constant>();
  DataParallelMultiGPU model(net, topology);
  torch::optim::SGD sgd(model.parameters(), 1e-6);
  DASO daso(model, sgd, {.interval = {.first = {1, 1}}, .review_every = 1 << 20});
  for (int b = 0; b < 6000; ++b) {
    daso.zero_grad();
    net->forward(1.0).backward();
    daso.step(1.0);
  }
  CHECK(daso.events().size() < 8193);
  CHECK(daso.events().front().kind == DasoEvent::Kind::phase);
  CHECK(daso.events().back().batch >= (daso.nodes() == 1 ? 0 : 5999));
}
