#include "../training.hpp"
#include "../../support.hpp"

using namespace heatpp::nn;

namespace {

/// A training on nodes of one rank, whose batches take some time.
struct NodesOfOneRank {
  explicit NodesOfOneRank(const DasoOptions& options) : daso(model, sgd, options) {}

  void train(std::int64_t batches, std::chrono::milliseconds each) {
    for (std::int64_t b = 0; b < batches; ++b) {
      daso.zero_grad();
      backward(model, b);
      std::this_thread::sleep_for(each);
      daso.step(1.0);
    }
  }

  ht::Topology topology{ht::world(), {.node_of = [](int rank) { return rank; }}};
  DataParallelMultiGPU<SmallNet> model{std::make_shared<SmallNet>(), topology};
  torch::optim::SGD sgd{model.parameters(), 0.1};
  DASO daso;
};

}  // namespace

TEST_CASE("A measured network makes the nodes wait as long as it takes", "[nn][daso]") {
  const int P = ht::world().size();
  if (P == 1) return;
  NodesOfOneRank nodes({.interval = {.first = {4, 3}, .measured = true}});
  // Batches of some length. Rank 0 takes twice as long to test its messages.
  nodes.train(24, std::chrono::milliseconds(ht::world().rank() == 0 ? 8 : 4));
  const auto interval = nodes.daso.interval();
  std::array<std::int64_t, 2> least{interval.batches, interval.wait}, most = least;
  ht::world().allreduce(least, ht::ReduceOp::min);
  ht::world().allreduce(most, ht::ReduceOp::max);
  CHECK(least == most);
  CHECK(interval.wait >= 1);
  CHECK(interval.batches >= interval.wait);
}

TEST_CASE("A node that is ten times slower is waited for, and all end with the same weights", "[nn][daso]") {
  const int P = ht::world().size();
  if (P == 1) return;
  NodesOfOneRank nodes({.interval = {.first = {2, 1}, .measured = true}});
  const bool slow = ht::world().rank() == P - 1;
  nodes.train(16, std::chrono::milliseconds(slow ? 20 : 2));
  nodes.daso.drain();

  CHECK(nodes.model.equal_on_all_ranks());
  CHECK(nodes.daso.counters().merges > 0);
  // The others wait at the merge, and their weights are never ahead by more than an interval.
  if (!slow) CHECK(nodes.daso.counters().exposed_seconds > 0.05);
}

TEST_CASE("Waiting at reviews and in drains is exposed time", "[nn][daso]") {
  const int P = ht::world().size();
  if (P == 1) return;
  const bool slow = ht::world().rank() == P - 1;
  const auto waited_for = [&](std::int64_t review_every, bool drains) {
    NodesOfOneRank nodes({.interval = {.first = {1000, 1}}, .review_every = review_every});
    ht::world().barrier();
    nodes.train(2, std::chrono::milliseconds(slow ? 60 : 0));
    if (drains) nodes.daso.drain();
    return nodes.daso.counters().exposed_seconds;
  };

  // The last rank is late by 60 ms for each batch.
  const auto none = waited_for(1000, false), reviews = waited_for(1, false), drain = waited_for(1000, true);
  CHECK(none == 0);
  if (!slow) CHECK(reviews > 0.1);
  if (!slow) CHECK(drain > 0.1);
}
