#include "training.hpp"

#include <heatpp/comm/error.hpp>
#include <heatpp_nn/parallel/merge.hpp>

#include <numeric>
#include <set>

using namespace heatpp::nn;

namespace {

struct Case {
  at::Tensor x, s, m;  // a node's current weights, its snapshot, the mean of the snapshots
};

Case random_case() {
  torch::manual_seed(3);
  const auto snapshots = torch::randn({4, 50}, torch::kDouble);
  return {snapshots[1] + 0.1 * torch::randn({50}, torch::kDouble), snapshots[1].clone(), snapshots.mean(0)};
}

at::Tensor merged(const Case& c, const MergeOptions& options, std::int64_t wait, int nodes) {
  auto x = c.x.clone(), prepared = at::empty_like(c.m);
  prepare_merge(prepared, c.m, c.s, options.policy);
  merge(x, prepared, merge_weight(options, wait, nodes), options.policy);
  return x;
}

}  // namespace

TEST_CASE("Merge policies equal their formulas", "[nn][merge]") {
  const auto c = random_case();
  const auto wait = GENERATE(1, 2, 5);
  const double S = wait, P = 4;

  const auto daso = merged(c, {.policy = MergePolicy::daso}, wait, 4);
  const auto alpha = merged(c, {.policy = MergePolicy::alpha, .alpha = 0.3}, wait, 4);
  const auto delta = merged(c, {.policy = MergePolicy::delta, .beta = 0.7}, wait, 4);

  CHECK(near_to(daso, (2 * S * c.x + P * c.m) / (2 * S + P), 1e-14, 1e-14));
  CHECK(near_to(alpha, 0.3 * c.x + 0.7 * c.m, 1e-14, 1e-14));
  CHECK(near_to(delta, c.x + 0.7 * (c.m - c.s), 1e-14, 1e-14));
}

TEST_CASE("Equal weights are a fixed point of every policy", "[nn][merge]") {
  const auto policy = GENERATE(MergePolicy::daso, MergePolicy::alpha, MergePolicy::delta);
  const auto x = torch::randn({50});

  CHECK(equals(merged({x, x.clone(), x.clone()}, {.policy = policy, .alpha = 0.3}, 2, 3), x));
}

TEST_CASE("DELTA keeps the mean of the nodes", "[nn][merge]") {
  torch::manual_seed(4);
  const auto s = torch::randn({5, 20}, torch::kDouble), x = s + torch::randn({5, 20}, torch::kDouble);
  auto after = torch::empty_like(x);
  for (int node = 0; node < 5; ++node) after[node] = merged({x[node], s[node], s.mean(0)}, {.beta = 0.6}, 1, 5);

  CHECK(near_to(after.mean(0), x.mean(0), 0, 1e-14));
}

TEST_CASE("The outer rule is Nesterov's momentum on the mean", "[nn][merge]") {
  torch::manual_seed(5);
  auto anchor = torch::randn({20}, torch::kDouble), velocity = torch::zeros({20}, torch::kDouble);
  auto A = anchor.clone(), v = velocity.clone();
  for (int k = 0; k < 4; ++k) {
    const auto m = torch::randn({20}, torch::kDouble);
    const auto D = A - m;
    v = 0.9 * v + D;
    outer_step(anchor, velocity, m - anchor, 0.7, 0.9);
    A = A - 0.7 * (D + 0.9 * v);
    CHECK(near_to(anchor, A, 1e-13, 1e-13));
  }
}

TEST_CASE("Merge weights out of range are refused", "[nn][merge]") {
  CHECK_THROWS_AS(check(MergeOptions{.alpha = 1.5}), heatpp::ValueError);
  CHECK_THROWS_AS(check(MergeOptions{.beta = 0}), heatpp::ValueError);
  CHECK_THROWS_AS(check(MergeOptions{.outer_rate = 0}), heatpp::ValueError);
  CHECK_THROWS_AS(check(MergeOptions{.outer_momentum = 1}), heatpp::ValueError);
}

TEST_CASE("Without gradients the nodes draw together, by the same share with each merge", "[nn][merge]") {
  struct Still : torch::nn::Module {
    at::Tensor w = register_parameter("w", torch::zeros({7}, torch::kDouble));
    at::Tensor forward() { return w.sum() * 0; }
  };
  const auto policy = GENERATE(MergePolicy::daso, MergePolicy::alpha, MergePolicy::delta);
  const MergeOptions rule{.policy = policy, .alpha = 0.25, .beta = 0.5};
  const bool alike = GENERATE(false, true);
  for (const auto& map : node_maps()) {
    const ht::Topology topology(ht::world(), {.node_of = map});
    auto net = std::make_shared<Still>();
    DataParallelMultiGPU model(net, topology);
    torch::optim::SGD sgd(model.parameters(), 1.0);
    DASO daso(model, sgd, {.interval = {.first = {2, 1}}, .merge = rule, .nodes_count_alike = alike});
    double mean = 0;
    std::set<int> nodes;
    for (int rank = 0; rank < ht::world().size(); ++rank) {
      mean += 1.0 * map(rank) / ht::world().size();
      nodes.insert(map(rank));
    }
    if (alike) mean = std::accumulate(nodes.begin(), nodes.end(), 0.0) / static_cast<double>(nodes.size());
    const double start = map(ht::world().rank());
    torch::nn::init::constant_(net->w, start);

    for (int b = 0; b < 9; ++b) {
      daso.zero_grad();
      net->forward().backward();
      daso.step(1.0);
    }

    const auto left = std::pow(1 - merge_weight(rule, 1, daso.nodes()), static_cast<double>(daso.counters().merges));
    CHECK(daso.counters().merges == (daso.nodes() == 1 ? 0 : 4));
    CHECK(near_to(net->w, torch::full({7}, mean + left * (start - mean), torch::kDouble), 1e-13, 1e-13));
  }
}

TEST_CASE("Rotating carriers take equally many turns", "[nn][merge]") {
  for (const auto& topology : topologies()) {
    DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology);
    torch::optim::SGD sgd(model.parameters(), 0.1);
    DASO daso(model, sgd, {.interval = {.first = {1, 0}}, .carriers = Carriers::rotating});
    for (std::int64_t b = 0; b < 5; ++b) {
      daso.zero_grad();
      backward(model, b);
      daso.step(1.0);
    }

    // Ranks without a partner in every node carry nothing.
    std::array<std::int64_t, 1> carriers{topology.node().size()};
    topology.comm().allreduce(carriers, ht::ReduceOp::min);
    const auto starts = daso.counters().starts, place = std::int64_t{topology.node().rank()};
    const auto turns = place < carriers[0] ? starts / carriers[0] + (place < starts % carriers[0]) : 0;
    constexpr std::int64_t model_bytes = 8 * (8 * 5 + 8 + 3 * 8 + 3);
    CHECK(starts == (daso.nodes() == 1 ? 0 : 5));
    CHECK(daso.counters().global_bytes == turns * model_bytes);
  }
}
