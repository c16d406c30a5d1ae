#include "../training.hpp"
#include "../../support.hpp"

using namespace heatpp::nn;
using torch::optim::SGDOptions;
using Kind = DasoEvent::Kind;

namespace {

/// Returns the fragment of each of `count` weights, which `owners` ranks of each node share.
std::vector<std::int64_t> fragments_of(std::int64_t count, std::int64_t owners, std::int64_t fragments) {
  std::vector<std::int64_t> found;
  for (std::int64_t owner = 0; owner < owners; ++owner) {
    const auto mine = count / owners + (owner < count % owners);
    for (std::int64_t i = 0; i < mine; ++i) {
      std::int64_t fragment = 0;
      while (mine * (fragment + 1) / fragments <= i) ++fragment;
      found.push_back(fragment);
    }
  }
  return found;
}

int owners_of(const std::function<int(int)>& map) {
  std::map<int, int> ranks;
  for (int rank = 0; rank < ht::world().size(); ++rank) ++ranks[map(rank)];
  return std::ranges::min(ranks | std::views::values);
}

}  // namespace

TEST_CASE("Fragments travel in turns, and each is merged by the rule", "[nn][daso][fragments]") {
  constexpr std::int64_t fragments = 3, batches = 14;
  for (const auto& map : node_maps()) {
    if (nodes_of(map) == 1) continue;
    auto net = std::make_shared<Constant>();
    DataParallelMultiGPU model(net, ht::Topology(ht::world(), {.node_of = map}));
    torch::optim::SGD sgd(model.parameters(), 1.0);
    DASO daso(model, sgd, {.interval = {.first = {6, 1}}, .fragments = fragments});
    const double slope = 1.0 + map(ht::world().rank());
    for (std::int64_t b = 0; b < batches; ++b) {
      daso.zero_grad();
      net->forward(slope).backward();
      daso.step(1.0);
    }

    double mean_slope = 0;
    for (int rank = 0; rank < ht::world().size(); ++rank) mean_slope += (1.0 + map(rank)) / ht::world().size();
    std::vector<double> weights(fragments, 0), means(fragments, 0), sent(fragments, 0), sent_mean(fragments, 0);
    for (std::int64_t b = 0; b < batches; ++b) {  // fragment f starts at batches 1 + 2 f, 7 + 2 f, ...
      for (auto& weight : weights) weight -= slope;
      for (auto& mean : means) mean -= mean_slope;
      if (b >= 2 && b % 2 == 0) {
        const auto f = static_cast<std::size_t>((b / 2 - 1) % fragments);
        weights[f] += sent_mean[f] - sent[f];
      }
      const auto f = static_cast<std::size_t>(b / 2 % fragments);
      if (b % 2 == 1) sent[f] = weights[f], sent_mean[f] = means[f];
    }
    const auto places = fragments_of(7, owners_of(map), fragments);
    for (std::size_t i = 0; i < places.size(); ++i)
      CHECK(net->w[static_cast<std::int64_t>(i)].item<double>() ==
            Approx(weights[static_cast<std::size_t>(places[i])]).epsilon(1e-12));
    std::vector<std::int64_t> started, ages;
    for (const auto& event : daso.events()) {
      if (event.kind == Kind::start) started.push_back(event.fragment);
      if (event.kind == Kind::merge) ages.push_back(event.age);
    }
    CHECK(started == std::vector<std::int64_t>{0, 1, 2, 0, 1, 2, 0});
    CHECK(ages == std::vector<std::int64_t>(6, 1));
  }
}

TEST_CASE("A fragment sends its part of the bytes", "[nn][daso][fragments]") {
  const ht::Topology topology(ht::world(), {.node_of = [](int rank) { return rank; }});
  const auto sent = [&](std::int64_t fragments, std::int64_t batches) {
    DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology);
    torch::optim::SGD sgd(model.parameters(), 0.1);
    DASO daso(model, sgd, {.interval = {.first = {4, 1}}, .fragments = fragments});
    for (std::int64_t b = 0; b < batches; ++b) {
      daso.zero_grad();
      backward(model, b);
      daso.step(1.0);
    }
    return daso.counters().global_bytes;
  };
  const auto whole = sent(1, 4);
  CHECK((whole > 0) == (ht::world().size() > 1));
  for (std::int64_t batches = 1; batches <= 4; ++batches)
    CHECK(std::abs(sent(4, batches) - batches * whole / 4) < 4 * 8);  // at most one number per fragment more or less
  CHECK(sent(4, 4) == whole);
}

TEST_CASE("Fragments that are averaged at once at every batch drift no further than their turn",
          "[nn][daso][fragments]") {
  for (const auto& topology : topologies())
    for (const auto& shard : {std::optional<Scope>(), std::optional(Scope::node)}) {
      DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology,
                                 {.gradients = {.bucket_bytes = 200}, .shard = shard});
      torch::optim::SGD sgd(model.parameters(), SGDOptions(0.1).momentum(0.9));
      DASO daso(model, sgd, {.phases = {.cooldown = 2, .total = 13}, .interval = {.first = {2, 0}}, .fragments = 2});
      for (std::int64_t b = 0; b < 13; ++b) {
        daso.zero_grad();
        backward(model, b);
        daso.step(1.0);
        const auto sums = topology.node().allgather(std::int64_t{model.checksum()});
        CHECK(std::set(sums.begin(), sums.end()).size() == 1);
      }
      CHECK(model.equal_on_all_ranks());
    }
}

TEST_CASE("fragments out of range, or with options that exclude them, are refused", "[nn][daso][fragments]") {
  DataParallelMultiGPU model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  torch::optim::SGD sgd(model.parameters(), 0.1);
  CHECK_THROWS_AS(DASO(model, sgd, {.fragments = 0}), ht::ValueError);
  CHECK_THROWS_AS(DASO(model, sgd, {.carriers = Carriers::rotating, .fragments = 2}), ht::ValueError);
  CHECK_THROWS_AS(DASO(model, sgd, {.interval = {.local_skips = true}, .fragments = 2}), ht::ValueError);
}
