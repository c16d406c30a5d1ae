#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp_nn/parallel/partners.hpp>

#include <numeric>

using namespace heatpp::nn;

namespace {

/// Averages the pairs of a turn.
void meet(std::vector<double>& values, std::int64_t turn) {
  const auto before = values;
  const auto nodes = static_cast<int>(values.size());
  for (int node = 0; node < nodes; ++node)
    if (const auto partner = partner_of(node, nodes, turn))
      values[static_cast<std::size_t>(node)] =
          (before[static_cast<std::size_t>(node)] + before[static_cast<std::size_t>(*partner)]) / 2;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double square(const std::vector<double>& values) {
  double sum = 0;
  for (const auto value : values) sum += (value - mean(values)) * (value - mean(values));
  return sum;
}

/// Trains a quadratic, whose minimum differs between nodes, by gradient descent.
struct Bowl : torch::nn::Module {
  at::Tensor w = register_parameter("w", torch::zeros({7}, torch::kDouble));
  at::Tensor forward(double minimum) { return 0.5 * (w - minimum).square().sum(); }
};

/// Returns the weights of this rank's nodes after each batch.
std::vector<double> bowl(const ht::Topology& topology, const DasoOptions& options, double rate, double minimum,
                         std::int64_t batches) {
  auto net = std::make_shared<Bowl>();
  DataParallelMultiGPU model(net, topology);
  torch::optim::SGD sgd(model.parameters(), rate);
  DASO daso(model, sgd, options);
  std::vector<double> seen;
  for (std::int64_t b = 0; b < batches; ++b) {
    daso.zero_grad();
    net->forward(minimum).backward();
    daso.step(1.0);
    seen.push_back(net->w[3].item<double>());
  }
  return seen;
}

double mean_of_ranks(double value) {
  std::array<double, 1> sum{value};
  ht::world().allreduce(sum);
  return sum[0] / ht::world().size();
}

}  // namespace

TEST_CASE("Partners find each other, and few nodes are left out", "[nn][daso][pairs]") {
  for (int nodes = 1; nodes <= 33; ++nodes)
    for (std::int64_t turn = 0; turn < 40; ++turn) {
      int alone = 0;
      for (int node = 0; node < nodes; ++node) {
        const auto partner = partner_of(node, nodes, turn);
        alone += !partner;
        if (!partner) continue;
        CHECK(*partner != node);
        CHECK(partner_of(*partner, nodes, turn) == node);
      }
      CHECK(alone == nodes % 2);
    }
}

TEST_CASE("Pairs keep the mean and halve the square of the distance from it", "[nn][daso][pairs]") {
  for (const int nodes : {3, 6, 12, 48, 49, 192}) {
    std::vector<double> values;
    for (int node = 0; node < nodes; ++node) values.push_back(node * node % 17);
    const auto sum = mean(values) * nodes, start = square(values);
    const int turns = 20;
    for (std::int64_t turn = 0; turn < turns; ++turn) meet(values, turn);
    CHECK(mean(values) * nodes == Approx(sum).epsilon(1e-12));
    const auto rate = std::pow(square(values) / start, 1.0 / turns);
    CHECK(rate < 0.7);  // 1/2 is the expectation; nodes that are left out and chance make it more
  }
  for (const int nodes : {2, 4, 8, 64}) {  // hypercubes have the mean after log2(nodes) turns, exactly
    std::vector<double> values;
    for (int node = 0; node < nodes; ++node) values.push_back(node);
    for (std::int64_t turn = 0; 1 << turn < nodes; ++turn) meet(values, turn);
    CHECK(values == std::vector<double>(static_cast<std::size_t>(nodes), (nodes - 1) / 2.0));
  }
}

TEST_CASE("Nodes average with one other, which the rule says", "[nn][daso][pairs]") {
  for (const auto& map : node_maps()) {
    const int nodes = nodes_of(map);
    if (nodes == 1) continue;
    const ht::Topology topology(ht::world(), {.node_of = map});
    auto net = std::make_shared<Constant>();
    DataParallelMultiGPU model(net, topology);
    torch::optim::SGD sgd(model.parameters(), 1.0);
    DASO daso(model, sgd, {.interval = {.first = {2, 1}}, .partners = Partners::pairs});
    std::vector<double> sizes(static_cast<std::size_t>(nodes), 0), weights(sizes), sent(sizes);
    const auto nodes_in_order = [&] {  // numbers by the first rank of each
      std::vector<int> order;
      for (int rank = 0; rank < ht::world().size(); ++rank)
        if (std::ranges::find(order, map(rank)) == order.end()) order.push_back(map(rank));
      return order;
    }();
    const auto number = [&](int rank) {
      return static_cast<std::size_t>(std::ranges::find(nodes_in_order, map(rank)) - nodes_in_order.begin());
    };
    for (int rank = 0; rank < ht::world().size(); ++rank) ++sizes[number(rank)];
    const auto mine = number(ht::world().rank());
    for (std::int64_t b = 0; b < 9; ++b) {
      daso.zero_grad();
      net->forward(1.0 + static_cast<double>(mine)).backward();
      daso.step(1.0);

      for (std::size_t node = 0; node < sizes.size(); ++node) weights[node] -= 1.0 + static_cast<double>(node);
      if (b >= 2 && b % 2 == 0)
        for (std::size_t node = 0; node < sizes.size(); ++node)
          if (const auto other = partner_of(static_cast<int>(node), nodes, b / 2 - 1)) {
            const auto partner = static_cast<std::size_t>(*other);
            weights[node] +=
                (sizes[node] * sent[node] + sizes[partner] * sent[partner]) / (sizes[node] + sizes[partner]) -
                sent[node];
          }
      if (b % 2 == 1) sent = weights;
      CHECK(net->w[5].item<double>() == Approx(weights[mine]).epsilon(1e-12));
    }
    daso.drain();
    CHECK(model.equal_on_all_ranks());
  }
}

TEST_CASE("The mean of nodes in pairs descends a quadratic as that of all nodes", "[nn][daso][pairs]") {
  if (ht::world().size() == 1) return;
  const ht::Topology topology(ht::world(), {.node_of = [](int rank) { return rank; }});
  const double minimum = 1.0 + ht::world().rank(), middle = (1.0 + ht::world().size()) / 2;
  const auto trained = [&](Partners partners) {
    return bowl(topology, {.interval = {.first = {1, 0}}, .partners = partners}, 0.05, minimum, 120);
  };
  const auto all = trained(Partners::all), pairs = trained(Partners::pairs);
  for (std::size_t b = 0; b < all.size(); ++b) CHECK(mean_of_ranks(pairs[b]) == Approx(mean_of_ranks(all[b])));
  CHECK(mean_of_ranks(pairs.back()) == Approx(middle).epsilon(0.01));
  // Each node stays near the mean, although its own minimum is elsewhere.
  CHECK(std::abs(pairs.back() - middle) < 0.25 * std::max(0.5, std::abs(minimum - middle)));
}

TEST_CASE("Pairs go with a shared optimizer, fragments, local skips and rotating carriers",
          "[nn][daso][pairs][shard]") {
  const auto trained = [](const ht::Topology& topology, std::optional<Scope> shard, const DasoOptions& options) {
    DasoTraining run(topology, shard, options);
    run.train(0, 12);
    return run.drained();
  };
  for (const auto& topology : topologies()) {
    const DasoOptions plain{.phases = {.warmup = 2}, .interval = {.first = {3, 1}}, .partners = Partners::pairs};
    auto cut = plain, skipping = plain, rotating = plain;
    cut.fragments = 2;
    skipping.interval = {.first = {4, 1, 2}, .local_skips = true};
    rotating.carriers = Carriers::rotating;
    for (const auto& options : {plain, cut})
      CHECK(distance(trained(topology, Scope::node, options), trained(topology, std::nullopt, options)) < 1e-12);
    CHECK(distance(trained(topology, std::nullopt, rotating), trained(topology, std::nullopt, plain)) < 1e-12);
    (void)trained(topology, std::nullopt, skipping);
  }
}

TEST_CASE("A gradient that is not finite ends pairs at the next drain, on all ranks", "[nn][daso][pairs]") {
  for (const auto& topology : topologies()) {
    auto net = std::make_shared<Constant>();
    DataParallelMultiGPU model(net, topology);
    torch::optim::SGD sgd(model.parameters(), 0.1);
    DASO daso(model, sgd, {.interval = {.first = {2, 1}}, .partners = Partners::pairs});
    bool thrown = false;
    try {
      for (std::int64_t b = 0; b < 7; ++b) {
        daso.zero_grad();
        net->forward(b == 2 && ht::world().rank() == 0 ? std::nan("") : 1.0).backward();
        daso.step(1.0);
      }
      CHECK(daso.nodes() > 1);
      daso.drain();
    } catch (const ht::ValueError&) {
      thrown = true;
    }
    CHECK(thrown);
  }
}
