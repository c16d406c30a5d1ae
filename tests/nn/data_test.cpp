#include "training.hpp"
#include "../support.hpp"

#include <heatpp_nn/data_loader.hpp>
#include <heatpp_nn/metrics.hpp>

#include <set>

using namespace heatpp::nn;

namespace {

/// Rows 0, 1, ... of which rank r holds 5 + r, in two columns; the targets repeat the first column.
struct Rows {
  int ranks = ht::world().size(), rank = ht::world().rank();
  std::int64_t mine = 5 + rank, first = 5 * rank + rank * (rank - 1) / 2;
  at::Tensor block = torch::arange(2 * first, 2 * (first + mine), torch::kDouble).view({mine, 2});
  ht::DNDarray inputs = ht::from_local(block, {.split = 0});
  ht::DNDarray targets = ht::from_local(block.select(1, 0).to(torch::kLong), {.split = 0});
};

std::vector<std::int64_t> values(const at::Tensor& order) {
  return {order.const_data_ptr<std::int64_t>(), order.const_data_ptr<std::int64_t>() + order.numel()};
}

}  // namespace

TEST_CASE("Every rank gets equally many batches", "[nn][data]") {
  const Rows rows;
  const auto& layout = rows.inputs.layout();
  const DistributedSampler drop(layout, rows.rank, {.batch_size = 2}),
      pad(layout, rows.rank, {.batch_size = 2, .remainder = Remainder::pad});

  CHECK(drop.batches() == 2);
  CHECK(pad.batches() == (5 + rows.ranks - 1 + 1) / 2);
  const auto dropped = values(drop.order(0)), padded = values(pad.order(0));
  CHECK(std::set(dropped.begin(), dropped.end()).size() == 4);
  CHECK(std::set(padded.begin(), padded.end()).size() == static_cast<std::size_t>(rows.mine));
  CHECK(std::ssize(padded) == 2 * pad.batches());
}

TEST_CASE("The order depends on seed, epoch and rank only", "[nn][data]") {
  const ht::Layout layout({400}, 0, 4);
  const DistributedSampler sampler(layout, 1, {.batch_size = 100, .seed = 3});

  CHECK(sampler.order(5).equal(DistributedSampler(layout, 1, {.batch_size = 100, .seed = 3}).order(5)));
  CHECK_FALSE(sampler.order(5).equal(sampler.order(6)));
  CHECK_FALSE(sampler.order(5).equal(DistributedSampler(layout, 1, {.batch_size = 100, .seed = 4}).order(5)));
  CHECK_FALSE(sampler.order(5).equal(DistributedSampler(layout, 2, {.batch_size = 100, .seed = 3}).order(5)));
  const DistributedSampler plain(layout, 1, {.batch_size = 100, .shuffle = false});
  CHECK(plain.order(7).equal(torch::arange(100)));
}

TEST_CASE("Too few rows and arrays cut otherwise are refused", "[nn][data]") {
  const ht::Layout three({3, 2}, 0, 4);

  const auto message = message_of<ht::ValueError>([&] { DistributedSampler(three, 0, {.batch_size = 1}); });

  CHECK_THAT(message, Catch::Contains("0 rows on rank 3"));
  CHECK_THROWS_AS(DistributedSampler(ht::Layout({8, 8}, 1, 4), 0), ht::ValueError);
  CHECK_THROWS_AS(DistributedSampler(ht::Layout({8}, 0, 4), 0, {.batch_size = 0}), ht::ValueError);
}

TEST_CASE("A loader gives inputs and their targets in memory that is used again", "[nn][data]") {
  const Rows rows;
  DataLoader loader({rows.inputs, rows.targets}, {.batch_size = 2});
  std::multiset<double> seen;
  std::set<const void*> memory;

  for (const auto& [inputs, targets] : loader.epoch(1)) {
    CHECK(inputs.select(1, 0).to(torch::kLong).equal(targets));
    memory.insert(inputs.data_ptr());
    for (int i = 0; i < 2; ++i) seen.insert(inputs[i][0].item<double>());
  }

  CHECK(memory.size() == 1);
  CHECK(seen.size() == 4);
  CHECK(*seen.begin() >= 2.0 * static_cast<double>(rows.first));
  CHECK(*seen.rbegin() < 2.0 * static_cast<double>(rows.first + rows.mine));
}

TEST_CASE("Inputs and targets that are cut differently are refused", "[nn][data]") {
  const Rows rows;
  const auto other = ht::zeros({rows.inputs.shape().front() + 1}, {.split = 0});

  CHECK_THROWS_AS(Dataset(rows.inputs, other), ht::ValueError);
  CHECK_THROWS_AS(Dataset(rows.inputs, ht::resplit(rows.targets, std::nullopt)), ht::ValueError);
}

TEST_CASE("Averages are over the samples of all ranks", "[nn][metrics]") {
  Average average;
  const double n = ht::world().size(), rank = ht::world().rank();

  average.add(rank, 2);
  average.add(rank, 1);

  CHECK(average.local() == rank);
  CHECK(average.value(ht::world()) == Approx((n - 1) / 2));
  average.reset();
  CHECK(std::isnan(average.value(ht::world())));
}

TEST_CASE("Accuracy is the share of rows with the right class", "[nn][metrics]") {
  const auto scores = torch::tensor({{1.0, 2.0}, {3.0, 0.0}, {0.0, 1.0}, {5.0, 4.0}});

  CHECK(accuracy(scores, torch::tensor({1, 0, 0, 0})) == 0.75);
}
