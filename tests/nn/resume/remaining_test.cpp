#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp_nn/training/detail/remaining/remaining.hpp>
#include <heatpp_nn/training/detail/training.hpp>
#include <heatpp_nn/training/lost_ranks.hpp>
#include <heatpp_nn/training/trainer.hpp>

using namespace heatpp::nn;
using ht::nn::detail::Held;
using ht::nn::detail::least_far;
using ht::nn::detail::position_among;
using ht::nn::detail::Reached;
using ht::nn::detail::shares_of;

TEST_CASE("Each part of the weights is the mean over the nodes that are left", "[nn][remaining]") {
  CHECK(shares_of(std::vector<Held>{{2, 0, 2}, {2, 1, 2}}) == std::vector{1.0, 1.0});
  CHECK(shares_of(std::vector<Held>{{1, 0, 1}, {1, 0, 3}}) == std::vector{0.25, 0.75});
  // One is left of a node of two ranks. The third rank of a larger node owns nothing.
  CHECK(shares_of(std::vector<Held>{{2, 0, 2}, {2, 0, 2}, {2, 1, 2}}) == std::vector{0.5, 0.5, 1.0});
  CHECK(shares_of(std::vector<Held>{{2, 0, 3}, {2, 1, 3}, {2, -1, 3}}) == std::vector{1.0, 1.0, 0.0});
}

TEST_CASE("If a part is lost, or parts do not fit, ranks bring all that they have", "[nn][remaining]") {
  CHECK(shares_of(std::vector<Held>{{2, 0, 2}, {2, 0, 2}}).empty());
  CHECK(shares_of(std::vector<Held>{{2, -1, 3}}).empty());
  CHECK(shares_of(std::vector<Held>{{2, 0, 2}, {2, 1, 2}, {1, 0, 1}}).empty());
}

TEST_CASE("Ranks that are left continue with the first that is least far", "[nn][remaining]") {
  CHECK(least_far(std::vector<Reached>{{1, 5, 20}}) == 0);
  CHECK(least_far(std::vector<Reached>{{1, 5, 20}, {1, 4, 19}, {1, 4, 19}}) == 1);
  CHECK(least_far(std::vector<Reached>{{2, 0, 20}, {2, 0, 20}, {1, 15, 20}}) == 2);
  CHECK(least_far(std::vector<Reached>{{0, 0, 8}, {0, 0, 7}}) == 1);
}

TEST_CASE("The same share of the epoch is done of the rows that are left", "[nn][remaining]") {
  const Position half{3, 1, 8, 256};
  CHECK(position_among(half, 512, 512) == half);
  CHECK(position_among(half, 512, 384) == Position{3, 1, 8, 192});
  CHECK(position_among({3, 1, 16, 512}, 512, 100) == Position{3, 1, 16, 100});
  CHECK(position_among({3, 1, 100, 100}, 100, 30) == Position{3, 1, 30, 30});
  CHECK(position_among({3, 1, 0}, 512, 100) == Position{3, 1, 0});
}

namespace {

/// Takes the other ranks for lost. They train no more.
auto without_last(int lost) {
  return [lost](const ht::Communicator& comm) { return comm.split(comm.rank() < comm.size() - lost ? 0 : 1).value(); };
}
bool remains(int lost) { return ht::world().rank() < ht::world().size() - lost; }

std::vector<double> state_sums(const torch::optim::Optimizer& adam) {
  std::vector<double> sums(3);
  for (const auto& [key, state] : adam.state()) {
    auto& kept = dynamic_cast<torch::optim::AdamParamState&>(*state);
    sums[0] += kept.exp_avg().sum().item<double>();
    sums[1] += kept.exp_avg_sq().sum().item<double>();
    sums[2] = std::max(sums[2], static_cast<double>(kept.step()));
  }
  return sums;
}

const std::vector<ReplicaOptions>& sharings() {
  static const std::vector<ReplicaOptions> all{
      {.gradients = {.bucket_bytes = 200}},
      {.gradients = {.bucket_bytes = 200}, .shard = Scope::node},
      {.gradients = {.bucket_bytes = 200}, .shard = Scope::node, .shard_weights = true}};
  return all;
}

}  // namespace

TEST_CASE("A DASO moves to the ranks that are left with its weights and optimizer state", "[nn][remaining]") {
  const int lost = ht::world().size() / 2;
  for (const auto& topology : topologies())
    for (const auto& sharing : sharings())
      for (const std::int64_t batches : {2, 6}) {  // in the warm-up, and in the cycle
        DasoTraining training(topology, sharing, {.phases = {.warmup = 3}, .interval = {.first = {3, 2}}});
        training.train(0, batches);
        training.daso.drain();  // equal weights, so that the mean is known
        const auto before = weights(training.model.module());
        auto sums = state_sums(training.adam);
        const auto& owners = training.model.ownership().shares().comm();
        if (sharing.shard) owners.allreduce(std::span(sums.data(), 2));
        ht::world().allreduce(std::span(sums.data() + 2, 1), ht::ReduceOp::max);
        const Position position{1, 2, 3, 40 + ht::world().rank()};

        const auto resumed = ht::nn::detail::continue_without_lost({training.model, training.adam, &training.daso},
                                                                   position, {}, without_last(lost));

        const auto& comm = training.model.topology().comm();
        CHECK(comm.size() == (remains(lost) ? ht::world().size() - lost : lost));
        CHECK(distance(before, weights(training.model.module())) < 1e-15);
        CHECK(training.model.equal_on_all_ranks());
        CHECK(training.daso.batch() == batches);
        CHECK(resumed.position.rows.value() == 40 + (remains(lost) ? 0 : ht::world().size() - lost));
        auto after = state_sums(training.adam);
        if (sharing.shard) training.model.ownership().shares().comm().allreduce(std::span(after.data(), 2));
        // If some share of the optimizer is lost, its state begins again.
        CHECK((after[2] == 0 || after[2] == sums[2]));
        for (int k = 0; k < 2; ++k) CHECK((after[2] == 0 || after[k] == Approx(sums[k]).epsilon(1e-12)));
        if (!sharing.shard) CHECK(after[2] == sums[2]);
        // All of them train on, with the same batches for the ranks of a group.
        training.train(batches, batches + 4);
        CHECK(training.daso.batch() == batches + 4);
        CHECK(distance(before, training.drained()) > 0);
      }
}

TEST_CASE("What nodes learned since they synchronised becomes their mean", "[nn][remaining]") {
  if (ht::world().size() != 4) return;
  const ht::Topology topology(ht::world(), {.node_of = [](int rank) { return rank; }});
  DataParallelMultiGPU model(std::make_shared<Constant>(), topology);
  torch::optim::SGD sgd(model.parameters(), torch::optim::SGDOptions(0.5).momentum(0.5));
  DASO daso(model, sgd, {.interval = {.first = {8, 1}}});
  for (int b = 0; b < 3; ++b) {  // less than an interval
    daso.zero_grad();
    model(static_cast<double>(1 + ht::world().rank())).backward();
    daso.step(0.0);
  }
  const auto mine = weights(model.module())[0][0].item<double>();
  std::vector<double> all(4);
  all[static_cast<std::size_t>(ht::world().rank())] = mine;
  ht::world().allreduce(all);

  (void)ht::nn::detail::continue_without_lost({model, sgd, &daso}, {}, {}, without_last(2));

  const auto first = remains(2) ? 0U : 2U;
  CHECK(weights(model.module())[0][0].item<double>() == Approx((all[first] + all[first + 1]) / 2));
  CHECK(daso.nodes() == 2);
  CHECK(daso.batch() == 3);
}

TEST_CASE("Groups of an optimizer keep their parameters when its pieces change ranks", "[nn][remaining]") {
  if (ht::world().size() < 2) return;
  DataParallel model(std::make_shared<SmallNet>(), ht::Topology(ht::world()),
                     {.gradients = {.bucket_bytes = 200}, .shard = Scope::all});
  using Group = torch::optim::OptimizerParamGroup;
  std::vector<Group> groups;
  groups.emplace_back(model.parameters(*model->first), std::make_unique<torch::optim::SGDOptions>(0.0));
  groups.emplace_back(model.parameters(*model->second), std::make_unique<torch::optim::SGDOptions>(0.1));
  torch::optim::SGD sgd(groups, torch::optim::SGDOptions(0.1));
  const auto train = [&] {
    sgd.zero_grad();
    const auto [x, y] = samples(8);
    torch::mse_loss(model(x), y).backward();
    model.step(sgd);
  };
  model.learn_groups(sgd);
  train();
  const auto first = model->first->weight.detach().clone(), second = model->second->weight.detach().clone();

  (void)ht::nn::detail::continue_without_lost({model, sgd, nullptr}, {}, {}, without_last(1));
  train();

  CHECK(distance({model->first->weight.detach()}, {first}) < 1e-14);
  CHECK(distance({model->second->weight.detach()}, {second}) > 1e-6);
  CHECK(model.equal_on_all_ranks());
}

TEST_CASE("Datasets keep the rows of the ranks that are left", "[nn][remaining]") {
  const int lost = ht::world().size() / 2;
  const auto mine = torch::full({3 + ht::world().rank(), 1}, 1.0 + ht::world().rank(), torch::kDouble);
  const auto x = ht::from_local(mine, {.split = 0});
  const Dataset data(x, x);
  const auto comm = without_last(lost)(ht::world());

  const auto left = data.on_remaining(comm);

  CHECK(left.comm() == comm);
  CHECK(left.layout().count(comm.rank()) == data.layout().count(ht::world().rank()));
  DataLoader loader(left, {.batch_size = 2, .shuffle = Shuffle::global, .remainder = Remainder::join});
  double sum = 0, wanted = data.inputs().larray().sum().item<double>();
  for (const auto& [inputs, targets] : loader.epoch(0)) sum += inputs.sum().item<double>();
  std::vector<double> both{sum, wanted};
  comm.allreduce(both);
  CHECK(both[0] == both[1]);
}
